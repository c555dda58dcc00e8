"""The migrations make exactly the schema that the models describe."""

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine

from app.config import Settings
from app.db.models import Base
from migrations.run import migrate


def test_migrations_and_models_agree(settings: Settings) -> None:
    engine = create_engine(settings.database_url)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []
    engine.dispose()


def test_migrating_again_changes_nothing(settings: Settings) -> None:
    migrate(settings.database_url)
    migrate(settings.database_url)
