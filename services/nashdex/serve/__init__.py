"""Policies on a Showdown server: the client of ``nashdex serve``. It plays, and neither trains nor reads other rooms.

The library of websockets comes with the extra ``serve``.
"""
