"""``nashdex check-store``: check that a store can hold runs, by writing to it."""

from nashdex_cli.commands.output import JsonOption, print_answer
from nashdex_cli.commands.run_options import StoreOption


def check_store(store: StoreOption, as_json: JsonOption = False) -> None:
    """Write, read and delete an object in a store, which checks its address, bucket, keys and permissions."""
    from nashdex.store import open_own_store
    from nashdex.store.trial import try_store

    opened = open_own_store(store)
    key = try_store(opened)
    said = f"{opened.uri}: wrote, read and deleted {key}"
    print_answer({"uri": opened.uri, "key": key}, [said], as_json=as_json)
