"""Commands that measure policies."""
