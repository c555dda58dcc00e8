"""Mail to people and notifications of organizers: what the outbox has sent."""
