"""What is known about a solved game: exploitability, progress, intransitivity, and the documents that publish it."""
