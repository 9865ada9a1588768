"""Benchmarks of scaling: more gateways, more collectors, more shards of a cluster."""
