"""Tests of why the tracker and poke-env differ. Each reads the lines that the seat saw.

A reason explains a difference only if the lines contain its evidence. ``known`` lists the reasons.
"""
