"""The presets that nashdex ships."""

from nashdex.learning.damping.controller import Controller, StepSizeController
from nashdex.learning.damping.interface import Damping, Preset, ReferenceCoefficient, StepSize
from nashdex.learning.damping.schedule import Schedule

NONE = Preset("no reference; entropy 0.01", Damping())

PPO_CLIP_KL = Preset("β 0.02", Damping(reference="snapshot", beta=ReferenceCoefficient(initial=0.02)))

KL_WARMUP = Preset(
    "β 0.02, from 0 over 20 updates",
    Damping(reference="snapshot", beta=ReferenceCoefficient(initial=0.02, warmup_updates=20)),
)

ADAPTIVE_KL = Preset(
    "β 0.02 after a warm-up of 10 updates, with a controller: ×1.5 or ÷1.5 around 0.02 nats",
    Damping(
        reference="snapshot",
        beta=ReferenceCoefficient(initial=0.02, warmup_updates=10, controller=Controller(target_nats=0.02)),
    ),
)

S0_DAMPED = Preset(
    "β from 0.05 (at most 0.5) and entropy from 0.01 (at least 0.001), falling with powers 0.5 and 0.7 over 10⁶ "
    "decisions of the run; controllers of β (×1.5, ×0.9) and of the step size (×0.5, ×1.1) around 0.01 nats",
    Damping(
        reference="snapshot",
        beta=ReferenceCoefficient(
            initial=0.05,
            power=0.5,
            decay_decisions=1e6,
            cap=0.5,
            controller=Controller(target_nats=0.01, when_above=1.5, when_below=0.9, slack=1.5),
        ),
        entropy=Schedule(initial=0.01, power=0.7, decay_decisions=1e6, floor=0.001),
        step_size=StepSize(controller=StepSizeController(target_nats=0.01)),
        clock="run",
    ),
)

EMA_MAGNET = Preset("β 0.02", Damping(reference="ema", beta=ReferenceCoefficient(initial=0.02)))

PORTFOLIO = Preset("β 0.02", Damping(reference="portfolio", beta=ReferenceCoefficient(initial=0.02)))
