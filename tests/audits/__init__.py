"""Audits: the simulator, the tracker and the masks against their references."""
