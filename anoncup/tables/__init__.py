"""Reading of uploaded files: CSV, encodings, line numbers."""
