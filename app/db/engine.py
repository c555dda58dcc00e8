"""One engine per process."""

from functools import lru_cache

from sqlalchemy import Engine, create_engine
from sqlalchemy.orm import Session, sessionmaker

from app.config import get_settings


@lru_cache
def get_engine() -> Engine:
    settings = get_settings()
    return create_engine(
        settings.database_url,
        pool_size=settings.share(10),
        max_overflow=settings.share(20),
        pool_timeout=10,
        # A database that was restarted leaves dead connections in the pool.
        pool_pre_ping=True,
        # The message of a failed statement is logged; its values may be anything.
        hide_parameters=True,
        connect_args={"connect_timeout": 5},
    )


@lru_cache
def session_factory() -> sessionmaker[Session]:
    return sessionmaker(get_engine(), expire_on_commit=False)
