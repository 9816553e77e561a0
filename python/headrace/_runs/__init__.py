"""A running pipeline, its options, and what watches it."""
