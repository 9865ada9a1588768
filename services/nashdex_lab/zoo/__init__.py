"""Publishes policies with cards, in the zoo that comes with nashdex or in another store."""
