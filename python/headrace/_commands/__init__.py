"""Commands of the command line that run saved graphs."""
