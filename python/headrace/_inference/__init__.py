"""Inference graphs: the part of a pipeline that prepares one row for a model."""
