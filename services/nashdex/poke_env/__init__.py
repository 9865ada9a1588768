"""A policy as a player of poke-env, for poke-env's users: it plays on a server and neither trains nor records.

Importing this package imports poke-env; ``import nashdex`` does not.
"""

from nashdex.poke_env.player import Player

__all__ = ["Player"]
