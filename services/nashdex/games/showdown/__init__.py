"""Pokémon Showdown: gateway client, formats, teams, rewards, replays, and players that think with poke-env."""
