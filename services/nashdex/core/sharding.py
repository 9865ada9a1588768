"""How many of a step's items each shard takes."""


def shard_range(num_items: int, num_shards: int, shard: int) -> range:
    """Return the items of ``shard``: contiguous, disjoint, together all, sizes differing by at most one."""
    if not 0 <= shard < num_shards:
        raise ValueError(f"shard {shard} is not one of {num_shards}")
    return range(num_items * shard // num_shards, num_items * (shard + 1) // num_shards)
