"""The page on which people play against policies: what goes into it, and how it is written. It plays no battle."""
