"""Reading files of strangers: CSV, encodings, line numbers."""
