"""``tests.support.hostile_parser`` with an interpreter and libraries that everybody may read."""

from anoncup.runner.sandbox import privileges
from tests.support import hostile_parser


def prepare(*, warm: bool) -> None:
    hostile_parser.prepare(warm=warm)
    privileges.are_libraries_public = lambda: True  # type: ignore[assignment]


run = hostile_parser.run
