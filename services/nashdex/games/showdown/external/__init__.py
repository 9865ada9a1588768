"""The program that plays with a poke-env ``Player`` of a user's over a pipe.

It runs as a child process. What plays battles imports ``causes`` alone.
"""
