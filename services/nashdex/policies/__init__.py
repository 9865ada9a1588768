"""Who plays: scripted baselines, networks, mixtures, and policies stored by the hash of their content."""
