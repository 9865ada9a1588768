"""Raw logs of double battles, turned into both players' joint decisions, in which a slot's choice may be unknown.

``cutting`` finds the decisions in the lines, ``requests`` rebuilds the simulator's requests, and ``reconstruction`` has
the gateway's tracker follow.
"""
