"""Let the processes that live long work for long, and see whether any of them grows."""
