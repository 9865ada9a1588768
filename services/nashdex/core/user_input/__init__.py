"""What a user writes: files, TOML, ``KEY=VALUE``, and names that are nearly right."""
