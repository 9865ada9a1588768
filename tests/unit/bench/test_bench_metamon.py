"""The table of baselines' strengths."""

from nashdex.evaluator.match import MatchResult
from nashdex_metamon.bench.baselines import BaselinesBench, lines


def match(format_id: str, first: str, second: str, score: float | None) -> MatchResult:
    return MatchResult(
        format=format_id,
        p1=first,
        p2=second,
        seed=0,
        score=score,
        low=None if score is None else score - 0.1,
        high=None if score is None else score + 0.1,
        score_draws_as_losses=score,
        battles=10,
        wins=5,
        losses=5,
        draws=0,
        rejected=0,
        failed=0,
        decisions=100,
        seconds=1.0,
    )


def test_each_format_has_a_table_of_all_pairs() -> None:
    played = [
        match("gen1ou", "a", "b", 0.5),
        match("gen1ou", "a", "c", 0.25),
        match("gen1ou", "b", "c", None),
        match("gen2ou", "a", "b", 0.75),
    ]
    assert list(lines(BaselinesBench(matches=tuple(played)))) == [
        "gen1ou:",
        "| | b | c |",
        "|---|---|---|",
        "| a | 0.50 (0.40 to 0.60) | 0.25 (0.15 to 0.35) |",
        "| b |  |  |",
        "gen2ou:",
        "| | b |",
        "|---|---|",
        "| a | 0.75 (0.65 to 0.85) |",
    ]
