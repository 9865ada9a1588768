"""Which image each step runs in, and what each Python image must not contain."""

from nashdex.core.steps import StepName

ABSENT_PACKAGES = {
    "control": ("torch", "poke_env", "nashdex_bench"),
    "collector": ("kubernetes", "argo_workflows", "scipy", "nashdex_bench"),
    "evaluator": ("kubernetes", "argo_workflows", "scipy", "nashdex_bench"),
    "trainer": ("kubernetes", "argo_workflows", "scipy", "poke_env", "nashdex_bench"),
}
IMAGE_OF_STEP = {
    StepName.PLAN: "control",
    StepName.COLLECT: "collector",
    StepName.ACT: "collector",
    StepName.TRAIN: "trainer",
    StepName.GATE: "evaluator",
    StepName.EVALUATE: "evaluator",
    StepName.SOLVE: "control",
    StepName.REPORT: "control",
}
