"""How far a critic's win probability is from the results of new battles, as ``nashdex bench calibration`` prints it."""

from collections.abc import Callable, Iterator

from nashdex_lab.critics.calibration import CriticCalibration, measured, predictions


def bench_calibration(
    policy: str,
    *,
    against: str | None = None,
    format_id: str | None = None,
    battles: int = 1000,
    seed: int = 0,
    gateways: int = 1,
    on_battle: Callable[[int], None] = lambda _: None,
) -> CriticCalibration:
    """Play ``battles`` battles of ``policy`` and compare what its critic predicted with who won.

    Arguments and errors are those that ``predictions`` lists. Without ``against`` both seats' decisions count.
    """
    found = predictions(
        policy,
        against=against,
        format_id=format_id,
        battles=battles,
        seed=seed,
        gateways=gateways,
        both_seats=against is None,
        on_battle=on_battle,
    )
    return measured(
        found.joined, policy=policy, policy_id=found.policy, against=against, format_id=found.format, seed=seed
    )


def lines(result: CriticCalibration) -> Iterator[str]:
    """Yield the result as text."""
    yield (
        f"{result.policy} on {result.format} against {result.against}: {result.decisions:,} decisions of "
        f"{result.battles:,} battles"
    )
    yield f"{'predicted':>12} {'decisions':>10} {'battles':>8} {'mean':>6} {'won':>6}"
    for each in result.bins:
        bounds = f"{each.low:.1f} to {each.high:.1f}"
        means = "" if each.predicted is None or each.won is None else f" {each.predicted:>6.3f} {each.won:>6.3f}"
        yield f"{bounds:>12} {each.decisions:>10,} {each.battles:>8,}{means}"
    yield (
        f"expected calibration error {result.error:.3f} (95 % of resamples by pairs of battles: "
        f"{result.error_low:.3f} to {result.error_high:.3f})"
    )
    yield (
        f"squared error {result.squared_error:.3f}; {result.squared_error_of_mean:.3f} for always predicting the mean"
    )
