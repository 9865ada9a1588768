"""How throughput grows with shards on a cluster."""
