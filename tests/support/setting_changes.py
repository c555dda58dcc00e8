"""Changes of settings through the environment."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from app.config import get_settings


@contextmanager
def change_settings(**variables: object) -> Iterator[None]:
    """Set environment variables for the block, in which settings are read anew."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, str(value))
        get_settings.cache_clear()
        yield
    get_settings.cache_clear()
