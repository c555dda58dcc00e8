"""Keys of the texts that describe parts of a track in message catalogues."""

from collections.abc import Collection, Iterator, Mapping

from anoncup.tracks.model import AnyTrack
from anoncup.tracks.plugin import Plugin

_TEMPLATES = {
    "measures": ("measure_{}", "measure_{}_description", "where_{}"),
    "attackers": ("attacker_{}", "attacker_{}_description"),
    "methods": ("method_{}",),
    "distances": ("distance_{}", "distance_{}_description"),
    "questions": (
        "question_{}",
        "question_asks_{}",
        "guess_description_{}",
        "guess_guide_{}",
        "guess_rules_{}",
        "guess_sample_{}",
        "guess_target_{}",
    ),
}
"""By kind of part; ``{}`` stands for its name."""


def list_own_texts(plugin: Plugin, built_in: Collection[AnyTrack]) -> dict[str, frozenset[str]]:
    """Return the keys of the texts of the parts that the package itself defines, by track.

    Built-in texts with the same keys describe other parts. Parts that the package takes from a built-in track
    keep their texts.
    """
    texts: dict[str, frozenset[str]] = {}
    for track_name, kind, parts in _iter_parts(plugin):
        own_names = [
            name
            for name, part in parts.items()
            if all(getattr(track, kind).get(name) is not part for track in built_in)
        ]
        keys = {template.format(name) for name in own_names for template in _TEMPLATES[kind]}
        texts[track_name] = texts.get(track_name, frozenset()) | keys
    return texts


def _iter_parts(plugin: Plugin) -> Iterator[tuple[str, str, Mapping[str, object]]]:
    """Yield the name of a track, a kind of parts, and the parts of this kind by name."""
    for name, track in plugin.tracks.items():
        yield from ((name, kind, getattr(track, kind)) for kind in _TEMPLATES)
    for kind in ("measures", "attackers", "methods"):
        yield from ((name, kind, parts) for name, parts in getattr(plugin, kind).items())
