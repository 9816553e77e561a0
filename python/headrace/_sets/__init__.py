"""Named data sets as tables of files and values: what the modules of `headrace.datasets` are written with."""
