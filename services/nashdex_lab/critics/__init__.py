"""How far a critic's win probability can be believed: measured in new battles, and the map that corrects it."""
