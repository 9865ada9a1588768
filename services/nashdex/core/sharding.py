"""How a step's items are split over its shards."""


def shard_range(num_items: int, num_shards: int, shard: int) -> range:
    """Return the items of ``shard``. Ranges are contiguous, disjoint and complete; sizes differ by at most one."""
    if not 0 <= shard < num_shards:
        raise ValueError(f"shard {shard} is not one of {num_shards}")
    return range(num_items * shard // num_shards, num_items * (shard + 1) // num_shards)
