"""Datasets written to sets of files, whatever the format: parts, their names, their journal, and how a run goes on."""
