"""The train step: behaviour cloning for the first policy, then PPO under damping."""
