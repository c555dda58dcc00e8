"""Database models, engine and transactions. Only services query it."""
