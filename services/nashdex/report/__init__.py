"""The report of an iteration: its document, its findings and the page. Reads the store; computes no payoffs."""
