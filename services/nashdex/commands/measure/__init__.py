"""Commands that measure policies and this machine."""
