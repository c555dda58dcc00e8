"""Alembic's environment: uses the connection of ``migrations.run``, else the database of the settings."""

from alembic import context
from sqlalchemy import Connection, create_engine

from app.config import get_settings


def _run_on(connection: Connection) -> None:
    context.configure(connection=connection)
    with context.begin_transaction():
        context.run_migrations()


def run() -> None:
    shared_connection = context.config.attributes.get("connection")
    if shared_connection is not None:
        _run_on(shared_connection)
        return
    engine = create_engine(get_settings().database_url)
    try:
        with engine.connect() as connection:
            _run_on(connection)
    finally:
        engine.dispose()


run()
