"""The number of cases of a property test: a few in `make test`, all that it names in `make test-all`."""

from hypothesis import settings

settings.register_profile("quick", max_examples=10, deadline=None, derandomize=True)
settings.register_profile("full", settings.get_profile("quick"), max_examples=100)
settings.load_profile("quick")


def limit_examples(number: int) -> settings:
    """Return settings that try this many cases, or fewer where the profile allows fewer."""
    return settings(max_examples=min(number, settings().max_examples))
