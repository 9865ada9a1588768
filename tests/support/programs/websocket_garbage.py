"""Accepts a challenge and then sends choices that do not exist: ``websocket_garbage.py WEBSOCKET USERNAME``."""

import sys

from websockets.sync.client import connect

address, username = sys.argv[1:]
with connect(address, open_timeout=None) as socket:
    for text in socket:
        assert isinstance(text, str)
        room = text.partition("\n")[0].removeprefix(">") if text.startswith(">") else ""
        if "|challstr|" in text:
            socket.send(f"|/trn {username},0,")
        elif "|/challenge " in text:
            socket.send(f"|/accept {text.split('|')[2].strip()}")
        elif "|request|{" in text:
            socket.send(f"{room}|/choose gargle 9|x")
