"""What several tests share: small games, arenas, servers and made-up runs."""
