"""Worker processes that call the user's code."""
