"""The commands in the README of a kit."""

import re

_COMMAND = re.compile(
    r'^    uvx --from "anoncup(\[score\])? @ http\S+/anoncup-[^/"]+\.whl#sha256=[0-9a-f]{64}"'
    r'(?: --with "\S+ @ http\S+\.whl#sha256=[0-9a-f]{64}")* anoncup (.*)$',
    re.MULTILINE,
)


def list_kit_commands(readme: str) -> list[tuple[str, str]]:
    """Return the extra and the words after ``anoncup`` of each command."""
    return _COMMAND.findall(readme)
