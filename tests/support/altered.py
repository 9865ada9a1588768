"""Objects of a run that are changed on purpose."""

from nashdex.core import keys
from nashdex.core.manifest import RunManifest
from nashdex.store.checked import write_root
from nashdex.store.protocol import ObjectStore


def rewrite(store: ObjectStore, key: str, data: bytes) -> None:
    """Replace an object that the run's manifest names, and the hash there."""
    manifest = RunManifest.from_json(store.get(keys.RUN_MANIFEST), keys.RUN_MANIFEST)
    objects = {name: store.get(name) for name in manifest.objects} | {key: data}
    store.delete(keys.RUN_MANIFEST)
    store.put(key, data)
    write_root(store, objects)
