"""The pointer network with a memory of the battle's earlier decisions. It fits Showdown's spaces."""
