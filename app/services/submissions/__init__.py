"""The way of a submission: knocked, read, accepted, scored, marked as a final."""
