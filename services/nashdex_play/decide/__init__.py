"""Decisions for others' battles: a log and a seat in, a choice and its reasons out. It neither plays nor stores.

The framework of ``nashdex decide --listen`` comes with the extra ``decide``.
"""
