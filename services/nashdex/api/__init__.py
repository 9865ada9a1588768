"""The Python API: what ``import nashdex`` offers. It reads runs and plays battles, and neither trains nor writes.

Use the names of the package ``nashdex``, not these modules.
"""
