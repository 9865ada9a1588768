"""A coverage-guided fuzzer of everything that reads what others may have written."""
