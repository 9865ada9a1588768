"""Runs on Kubernetes with Argo: clients, submission, status, and checks of the site."""
