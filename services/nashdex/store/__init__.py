"""Objects under keys: a directory or an S3 bucket behind one protocol."""
