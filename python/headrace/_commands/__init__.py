"""Commands of the command line: those that run saved graphs, and the version."""
