"""The zoo: policies that come with nashdex, as files with cards. Publishing writes them; everything reads them."""
