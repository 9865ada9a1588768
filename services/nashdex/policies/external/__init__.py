"""Players of other programs as policies, over pipes to child processes that this machine's own configuration names.

Nothing that a store names is imported or started.
"""
