"""The presets that nashdex ships."""

from nashdex.settings.damping import Damping, Preset, ReferenceCoefficient

NONE = Preset("no reference; entropy 0.01", Damping())

PPO_CLIP_KL = Preset("β 0.02", Damping(reference="snapshot", beta=ReferenceCoefficient(initial=0.02)))

KL_WARMUP = Preset(
    "β 0.02, from 0 over 20 updates",
    Damping(reference="snapshot", beta=ReferenceCoefficient(initial=0.02, warmup_updates=20)),
)

ADAPTIVE_KL = Preset(
    "β 0.02 after a warm-up of 10 updates, with a controller around 0.02 nats",
    Damping(reference="snapshot", beta=ReferenceCoefficient(initial=0.02, warmup_updates=10, target_nats=0.02)),
)

S0_DAMPED = Preset(
    "β from 0.05, which halves in 3 · 10⁶ decisions of the run; controllers of β and of the step size around 0.01 nats",
    Damping(
        reference="snapshot",
        beta=ReferenceCoefficient(initial=0.05, decay_decisions=1e6, target_nats=0.01),
        step_target_nats=0.01,
        clock="run",
    ),
)

EMA_MAGNET = Preset("β 0.02", Damping(reference="ema", beta=ReferenceCoefficient(initial=0.02)))

PORTFOLIO = Preset("β 0.02", Damping(reference="portfolio", beta=ReferenceCoefficient(initial=0.02)))
