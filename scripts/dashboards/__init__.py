"""Grafana's dashboards: one module each, and the panels that they are built from."""
