"""What crosses rooms: whole pipelines, from Python to batches."""
