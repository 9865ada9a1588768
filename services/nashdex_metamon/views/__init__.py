"""Metamon's spaces as views of Showdown's decisions: their definitions, and how a seat reads them."""
