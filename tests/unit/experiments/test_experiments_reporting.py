"""What an experiment passes on of its runs' logs."""

import asyncio
from pathlib import Path

import pytest

from nashdex_lab.experiments.running import last_line, newest_lines


def test_new_lines_are_passed_on_once(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_text("of an earlier attempt\n")

    async def work() -> list[str]:
        said = asyncio.Queue[str]()
        async with newest_lines(log, said.put_nowait, every_seconds=0.001):
            for number in range(3):
                with log.open("a") as file:
                    file.write(f"round {number}\n")
                assert await said.get() == f"round {number}"
                await asyncio.sleep(0.01)
        return [said.get_nowait() for _ in range(said.qsize())]

    assert asyncio.run(asyncio.wait_for(work(), 20)) == [], "each line once"


@pytest.mark.parametrize(("text", "line"), [("", ""), ("one\ntwo\n", "two"), ("x" * 10_000 + "\nlast", "last")])
def test_the_last_line_of_a_log(tmp_path: Path, text: str, line: str) -> None:
    (tmp_path / "run.log").write_text(text)
    assert last_line(tmp_path / "run.log") == line
    assert last_line(tmp_path / "absent.log") == ""
