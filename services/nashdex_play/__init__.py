"""Policies outside a run: on a page, on a server, in environments of other libraries, and as answers to questions."""
