"""The settings of a run as plain data: every section, its keys, ranges and defaults, and how files of them are read.

It imports ``core`` alone. ``run`` is the whole; each other module is one section of it, with a class for each kind if
there is a choice. What the settings configure is registered in the packages above, by the same kinds and names.
Packages that are installed beside nashdex declare their sections in their own files.
"""
