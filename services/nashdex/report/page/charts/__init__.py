"""The report's charts as inline SVG, small enough for a phone, coloured by the page's style sheet.

Colours are classes (``c0`` … ``c9``), so that one drawing serves light, dark and print. Every mark has a ``<title>``
with its numbers: browsers show it on hover and screen readers read it.
"""

NUM_COLOURS = 10
"""Policies with a colour each; the others share a grey."""
