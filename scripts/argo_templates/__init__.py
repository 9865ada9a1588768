"""The WorkflowTemplates of argo/, built from the plan of an iteration (``nashdex.planning.dag``).

Only ``make chart`` and tests use this package; it is in no image.
"""

from collections.abc import Callable, Mapping

from argo_templates.actors import actors
from argo_templates.check import check
from argo_templates.exploit import exploit
from argo_templates.iteration import iteration
from argo_templates.league import league
from argo_templates.steps import step_templates
from argo_templates.workflows import WorkflowTemplate

TEMPLATES: Mapping[str, Callable[[], WorkflowTemplate]] = {
    "nashdex-check": check,
    **step_templates(),
    "nashdex-actors": actors,
    "nashdex-iteration": iteration,
    "nashdex-league": league,
    "nashdex-exploit": exploit,
}
"""What builds each WorkflowTemplate, by its name, in the order of argo/kustomization.yaml."""

__all__ = ["TEMPLATES"]
