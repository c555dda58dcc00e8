"""Uploaded files: parsing of CSV, encodings, foreign formats and line numbers."""
