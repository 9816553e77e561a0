"""Inference graphs: the row part of a pipeline, called on the values of a request, and kept in the file of a model."""
