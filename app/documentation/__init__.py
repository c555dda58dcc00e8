"""The documentation at /docs, and the reference of the API."""
