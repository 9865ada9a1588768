"""Runs on Kubernetes with Argo: clients, submission, status, and the checks of a site."""
