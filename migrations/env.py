"""Alembic's environment: the URL comes from the settings, or from whoever runs a migration in a test."""

from alembic import context
from sqlalchemy import create_engine

from app.config import get_settings
from app.db.models import Base


def run() -> None:
    url = context.config.get_main_option("sqlalchemy.url") or get_settings().database_url
    engine = create_engine(url)
    try:
        with engine.connect() as connection:
            context.configure(connection=connection, target_metadata=Base.metadata, compare_type=True)
            with context.begin_transaction():
                # Two starting processes migrate one after the other.
                connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7366228)")
                context.run_migrations()
    finally:
        engine.dispose()


run()
