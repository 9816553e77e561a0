"""Columns of files and tables: as given, or as their first rows show them."""
