"""Programs that play by websocket: started here, and challenged by the client of ``nashdex serve``.

Only this machine's own declarations name what is started.
"""
