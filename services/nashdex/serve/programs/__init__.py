"""Programs that play by websocket: started here or elsewhere, and challenged by the client of ``nashdex serve``.

Only this machine's own declarations name what is started, or whose server is asked.
"""
