"""``anoncup deliver``: send notifications and mail."""


def deliver() -> None:
    """Send notifications and mail until stopped; needs DATABASE_URL, a way out and no keys."""
    from app.cli import local_service

    local_service.exec_deliveries()
