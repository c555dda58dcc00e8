"""``anoncup deliver``: send events to webhooks, and mail."""


def deliver() -> None:
    """Send events to webhooks, and mail, until stopped; needs DATABASE_URL, a way out and no keys."""
    from app.cli import local_service

    local_service.exec_deliveries()
