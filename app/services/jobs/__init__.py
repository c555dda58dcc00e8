"""Background jobs: fair order, leases, the queue and its health."""
