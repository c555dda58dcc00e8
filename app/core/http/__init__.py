"""HTTP layer shared by the API and the pages: authentication, uploads, limits, errors, caches and metrics."""
