"""Datasets: how pipelines are written and run."""
