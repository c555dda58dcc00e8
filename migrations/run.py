"""Bring a database to the newest schema."""

from pathlib import Path

from alembic import command
from alembic.config import Config


def configuration(database_url: str) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    # A percent sign in a password would be read as an interpolation.
    config.set_main_option("sqlalchemy.url", database_url.replace("%", "%%"))
    return config


def migrate(database_url: str) -> None:
    command.upgrade(configuration(database_url), "head")
