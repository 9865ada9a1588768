"""What a network learns from: episodes as batches, the decisions of a round, and their statistics."""
