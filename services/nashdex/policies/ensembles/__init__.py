"""Ensembles: stored policies that decide together. They are not trained."""
