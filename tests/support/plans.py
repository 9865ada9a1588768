"""Plans that tests publish themselves, as the plan step does."""

from nashdex.core import keys
from nashdex.core.steps import StepName
from nashdex.metagame.plan import IterationPlan
from nashdex.store.attempt import Attempt
from nashdex.store.protocol import ObjectStore


def publish_plan(store: ObjectStore, plan: IterationPlan) -> None:
    """Publish ``plan``, and replace the one that was there."""
    store.delete(keys.manifest(plan.iteration, StepName.PLAN, 0))
    attempt = Attempt(store, plan.iteration, StepName.PLAN, 0)
    attempt.publish(keys.PLAN, plan.to_json())
    attempt.finish({})
