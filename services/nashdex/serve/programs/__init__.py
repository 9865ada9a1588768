"""Programs that play by websocket in ``nashdex battle``: started here, challenged by the client of ``nashdex serve``.

Only this machine's own declarations name what is started.
"""
