"""Doubles: the numbers of joint actions, and views of them in other projects' numbering. Imports no torch."""
