"""Episodes of recorded decisions, and shards of them in the store: safetensors in an lz4 frame, never pickle."""
