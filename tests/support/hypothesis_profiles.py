"""The number of cases of a property test: a few in `make test`, all that it names in `make test-all`."""

from hypothesis import settings


def limit_examples(number: int) -> settings:
    """Return settings that try this many cases, or fewer where the profile (`conftest.py`) allows fewer."""
    return settings(max_examples=min(number, settings().max_examples))
