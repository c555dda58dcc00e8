"""As ``tests.hostile_parser``, on a machine whose interpreter and libraries everybody may read."""

from app.processes.sandbox import privileges
from tests import hostile_parser


def prepare(*, warm: bool) -> None:
    hostile_parser.prepare(warm=warm)
    privileges.libraries_are_public = lambda: True  # type: ignore[assignment]


run = hostile_parser.run
