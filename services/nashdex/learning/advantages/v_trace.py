"""V-trace: targets corrected for the policy that acted (Espeholt et al. 2018, IMPALA). T decisions of one episode."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nashdex.learning.advantages.interface import AdvantageEstimator, Estimates, Trajectory
from nashdex.settings.advantages import VTraceSettings


def v_trace(
    rewards: NDArray[np.float32],
    values: NDArray[np.float32],
    ratios: NDArray[np.float64],
    discount: float,
    settings: VTraceSettings,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return advantages and targets of the critic of one episode that ended, each of shape (T,).

    v_t = V_t + δ_t + γ c_t (v_{t+1} − V_{t+1}) with δ_t = ρ_t (r_t + γ V_{t+1} − V_t), ρ_t = min(ρ̄, ratio) and
    c_t = λ min(c̄, ratio) (equation 1 and remark 2). Advantages are ρ_t (r_t + γ q_{t+1} − V_t) (section 4.2) with
    q = V + λ (v − V) for the next state, so that at ratios of 1 they are generalised advantages for every λ, and the
    paper's for λ = 1.
    """
    rho, c = np.minimum(settings.rho_bar, ratios), settings.lam * np.minimum(settings.c_bar, ratios)
    following = np.append(values[1:], np.float32(0.0)).astype(np.float64)
    deltas = rho * (rewards + discount * following - values)
    errors = np.zeros(len(deltas) + 1)
    for t in range(len(deltas) - 1, -1, -1):
        errors[t] = deltas[t] + discount * c[t] * errors[t + 1]
    advantages = rho * (rewards + discount * (following + settings.lam * errors[1:]) - values)
    return advantages.astype(np.float32), (values + errors[:-1]).astype(np.float32)


def effective_sample_share(ratios: NDArray[np.float64]) -> float:
    """Return Kish's effective sample size (Σw)² / Σw² of N weights, as a share of N: 1 if all are equal."""
    return float(ratios.sum() ** 2 / np.square(ratios).sum() / len(ratios))


def estimate(trajectories: Sequence[Trajectory], discount: float, settings: VTraceSettings) -> Estimates:
    """Return advantages, and targets for the critic; measure the importance ratios before they are truncated."""
    ratios = [np.exp(one.log_ratios, dtype=np.float64) for one in trajectories]
    found = [
        v_trace(one.rewards, one.values, ratio, discount, settings)
        for one, ratio in zip(trajectories, ratios, strict=True)
    ]
    of_all = np.concatenate(ratios)
    return Estimates(
        advantages=np.concatenate([advantages for advantages, _ in found]),
        returns=np.concatenate([targets for _, targets in found]),
        measured={
            "importance_ratio_mean": float(of_all.mean()),
            "importance_ratio_max": float(of_all.max()),
            "effective_sample_share": effective_sample_share(of_all),
        },
    )


V_TRACE = AdvantageEstimator(
    settings=VTraceSettings,
    summary="GAE with truncated importance ratios, for battles that older weights played",
    estimate=estimate,
    off_policy=True,
)
