"""Operators that are added while the process runs, and checks of them."""
