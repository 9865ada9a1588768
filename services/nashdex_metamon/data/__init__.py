"""Trajectories in files: metamon's parsed replays, read, counted, filtered and written. No torch, no simulator."""
