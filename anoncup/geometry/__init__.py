"""Arrays, distances, nearest neighbours and assignment; the compiled loops are in ``kernels``."""
