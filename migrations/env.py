"""Alembic's environment: on the connection that migrations.run gives, else on the settings' database."""

from alembic import context
from sqlalchemy import Connection, create_engine

from app.config import get_settings
from app.db.models import Base


def run_on(connection: Connection) -> None:
    context.configure(connection=connection, target_metadata=Base.metadata, compare_type=True)
    with context.begin_transaction():
        context.run_migrations()


def run() -> None:
    given = context.config.attributes.get("connection")
    if given is not None:
        run_on(given)
        return
    engine = create_engine(get_settings().database_url)
    try:
        with engine.connect() as connection:
            run_on(connection)
    finally:
        engine.dispose()


run()
