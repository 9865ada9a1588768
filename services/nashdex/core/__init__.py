"""What every part agrees on: ids, settings, errors and exit codes, documents, manifests and the key grammar.

Imports nothing of nashdex and no heavy library, so that any image can afford it.
"""
