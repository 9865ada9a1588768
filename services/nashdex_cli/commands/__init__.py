"""One module a command. Heavy imports are inside the functions, so that ``nashdex --help`` is instant."""
