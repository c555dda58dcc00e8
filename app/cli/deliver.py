"""``anoncup deliver``: send events to the webhooks of teams and organizers."""


def deliver() -> None:
    """Send events to webhooks until stopped; needs DATABASE_URL, a way out and no keys."""
    from app.cli import local_service

    local_service.exec_deliveries()
