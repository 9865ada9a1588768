from nashdex.api.battles import battle as battle
from nashdex.api.policies import Decision as Decision
from nashdex.api.policies import LoadedPolicy as LoadedPolicy
from nashdex.api.policies import PolicyBatch as PolicyBatch
from nashdex.api.policies import load_policy as load_policy
from nashdex.api.runs import Run as Run
from nashdex.api.runs import open_run as open_run

__version__: str

__all__ = ["Decision", "LoadedPolicy", "PolicyBatch", "Run", "battle", "load_policy", "open_run"]
