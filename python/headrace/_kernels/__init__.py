"""Kernels, and the steps of a map that are made of them."""
