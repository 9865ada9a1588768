"""Shared by all packages: ids, errors, exit codes, documents, manifests, keys, seeds, registries of plug-ins.

Imports no other package of nashdex and no heavy library, so every image can import it.
"""
