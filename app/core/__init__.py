"""What features share: database, storage, sealing, requests, pages, translation."""
