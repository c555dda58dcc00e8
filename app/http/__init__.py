"""What the API and the pages share: who asks, what went wrong, what every answer carries."""
