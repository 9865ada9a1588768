"""Experiments: runs of several arms and seeds, compared by a rule that is registered before the first one.

A plan (``plan``, ``rules``) is a TOML file that a person writes; ``registration`` keeps it with its hash. Its runs are
ordinary runs of ``nashdex run``, one process each (``running``). Their results are kept beside the plan, one record a
run (``records``), and a page for people is made from both (``report``, ``comparing``, ``sentences``, ``page``). This
package trains and plays nothing itself.
"""
