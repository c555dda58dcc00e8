"""E-mails, and messages to organizers."""
