"""The table of licences names every package that the service installs."""

from tests.support.licences import (
    LOCK,
    build_table,
    list_packages,
)


def test_every_package_of_the_service_has_an_allowed_licence() -> None:
    lock = LOCK.read_text("utf-8")
    packages = list_packages(lock)
    assert len(packages) == sum(not line.startswith(" ") for line in lock.splitlines())
    rows = [line.strip("| ").split(" | ") for line in build_table(packages).splitlines()[2:]]
    assert [(name, version) for name, version, _ in rows] == packages
    # An SPDX expression, a classifier and a text.
    expected = {"psycopg": "LGPL-3.0-only", "jinja2": "BSD License", "celery": "BSD-3-Clause"}
    assert expected.items() <= {name: licence for name, _, licence in rows}.items()
