"""Raw logs of double battles, turned into both players' joint decisions, in which a slot's choice may be unknown.

``cutting`` finds the decisions in the lines, ``inputs`` reads the choices themselves where a log holds them, ``sheets``
reads teams, ``requests`` rebuilds the simulator's requests, and ``reconstruction`` has the gateway's tracker follow.
"""
