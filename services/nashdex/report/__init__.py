"""The report of a run after an iteration: document, findings and page. Reads the store; computes no payoffs."""
