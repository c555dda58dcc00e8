"""Jobs of workers: leases, fair claiming, the queue, the outbox, and what they report."""
