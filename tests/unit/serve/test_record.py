"""The folder of a record: whose battles it holds, and that one process at a time writes it."""

from pathlib import Path

import pytest

from nashdex.core.errors import ConfigurationError
from nashdex.serve.record import BATTLES, Record
from nashdex.serve.room import ServedBattle


def _battle(name: str, format_id: str) -> ServedBattle:
    return ServedBattle(
        room=f"battle-{format_id}-1",
        format=format_id,
        policy="heuristic",
        name=name,
        opponent="visitor",
        seat=0,
        result="win",
        void=None,
        turns=20,
        decisions=21,
        refused=0,
        rating=None,
    )


def test_one_process_at_a_time_writes_a_record(tmp_path: Path) -> None:
    first = Record(tmp_path)
    with pytest.raises(ConfigurationError, match="another process writes the record"):
        Record(tmp_path)
    first.close()
    Record(tmp_path).close()


def test_a_record_is_of_one_user_and_format(tmp_path: Path) -> None:
    (tmp_path / BATTLES).write_text(_battle("Champ", "gen1ou").model_dump_json() + "\n")
    record = Record(tmp_path)
    record.check("gen1ou", "champ")
    with pytest.raises(ConfigurationError, match="the record of Champ in gen1ou, not of other in gen1ou"):
        record.check("gen1ou", "other")
    with pytest.raises(ConfigurationError, match="not of Champ in gen2ou"):
        record.check("gen2ou", "Champ")
    record.close()


def test_a_name_may_hold_an_end_of_line_of_unicode(tmp_path: Path) -> None:
    battle = _battle("Champ", "gen1ou").model_copy(update={"opponent": "a\u2028b\x85c"})
    (tmp_path / BATTLES).write_text(f"{battle.model_dump_json()}\n" * 2, "utf-8")
    record = Record(tmp_path)
    record.close()
    assert record.battles == [battle, battle]


def test_a_record_without_a_battle_is_empty(tmp_path: Path) -> None:
    (tmp_path / BATTLES).write_text("")
    record = Record(tmp_path)
    record.close()
    assert record.battles == []
