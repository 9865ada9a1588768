"""The tracker compared with poke-env, feature by feature."""
