"""Raw Showdown logs, as spectators saw them, turned into what each player saw and chose.

``replay`` reads a log, ``cutting`` finds the decisions in it, ``teams`` collects what the owner of a team knew and the
log shows later, ``requests`` rebuilds the simulator's requests, and ``following`` feeds both to the gateway's tracker.
``doubles`` does the same for double battles. ``reader`` declares it all to nashdex: ``packing`` stores replays with a
run, and ``collecting`` makes episodes of them. nashdex imports nothing of this package; an entry point names it.
"""
