"""Benchmarks of nashdex: ``nashdex bench``. No package that runs imports this one.

It measures what nashdex does, through nashdex's own packages. It adds its commands by entry point.
"""
