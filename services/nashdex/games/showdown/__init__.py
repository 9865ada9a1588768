"""Pokémon Showdown: gateway client, formats, teams, rewards, replays, and players based on poke-env."""
