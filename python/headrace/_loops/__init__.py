"""What stands around a loop over batches."""
