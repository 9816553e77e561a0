"""Whole files, and errors of the system about them."""
