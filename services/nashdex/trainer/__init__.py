"""The train step: it runs the oracle that the iteration's plan names, and stores the policy."""
