"""The tables of all features."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from sqlalchemy import MetaData

from app.core.db.models import Base
from app.core.db.privileges import READ

_APP_FOLDER = Path(__file__).parents[2]


def load_metadata() -> MetaData:
    """Return the tables of all features, whose models are imported first."""
    for path in sorted(_APP_FOLDER.glob("*/models.py")):
        import_module(f"app.{path.parent.name}.models")
    return Base.metadata


def list_privileges() -> Mapping[str, tuple[str, str]]:
    """Return the privileges of the web role, and of the role of workers and clock, by table."""
    load_metadata()
    mappers = Base.registry.mappers
    return {mapper.class_.__tablename__: mapper.class_.privileges for mapper in mappers} | {
        "alembic_version": (READ, READ)
    }
