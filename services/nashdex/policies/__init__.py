"""Policies: scripted, networks, tables, mixtures; stored ones are addressed by the hash of their content."""
