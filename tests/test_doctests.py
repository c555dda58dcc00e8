"""Run the examples in the library's docstrings."""

import doctest
import importlib
import pkgutil
from collections.abc import Iterator
from types import ModuleType

import pytest

import anoncup


def _iter_modules() -> Iterator[ModuleType]:
    for info in pkgutil.walk_packages(anoncup.__path__, "anoncup."):
        if not info.name.endswith("__main__"):
            yield importlib.import_module(info.name)


MODULES_WITH_EXAMPLES = [
    module
    for module in _iter_modules()
    if any(test.examples for test in doctest.DocTestFinder().find(module))
]


@pytest.mark.parametrize("module", MODULES_WITH_EXAMPLES, ids=lambda module: module.__name__)
def test_examples_in_docstrings_are_true(module: ModuleType) -> None:
    assert doctest.testmod(module).failed == 0
