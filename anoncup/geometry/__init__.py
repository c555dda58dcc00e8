"""Arrays, nearest neighbours, one-to-one assignment and stable sums; ``kernels`` has the compiled loops."""
