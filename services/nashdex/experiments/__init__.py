"""Experiments: runs of several arms and seeds, compared by a rule that is written down before the first one.

A plan (``plan``) is a TOML file that a person writes. Its runs are ordinary runs of ``nashdex run``, one process each
(``running``). What they gave is kept beside the plan, one record a run (``records``), and a page for people is made
from both (``report``, ``page``). This package trains and plays nothing itself.
"""
