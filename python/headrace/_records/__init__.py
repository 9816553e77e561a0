"""Records of a dataset's rows, written to RecordIO files."""
