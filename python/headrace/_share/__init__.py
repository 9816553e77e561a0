"""One process makes batches for several others of its host."""
