"""Tests across rooms: whole pipelines, from Python to batches."""
