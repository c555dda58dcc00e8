"""What an installed package brings: tracks, measures, attackers and methods."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from anoncup.tracks.model import Track
from anoncup.tracks.parts import Attacker, Measure, Method

API = 0
"""The boundary that packages are made for; its number rises when they must be changed."""
Formulas = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Plugin:
    """What a package brings. ``api``: the boundary that it is made for, a number that it writes down itself.

    ``tracks`` by name; ``measures``, ``attackers`` and ``methods`` by the name of a track, then by their own;
    ``formulas``: of measures, the same way, each a ``<math>`` element. Words are a catalogue of the package,
    which the entry point of another group names (``app.locale.language``).
    """

    api: int
    tracks: Mapping[str, Track] = field(default_factory=dict)
    measures: Mapping[str, Mapping[str, Measure]] = field(default_factory=dict)
    attackers: Mapping[str, Mapping[str, Attacker]] = field(default_factory=dict)
    methods: Mapping[str, Mapping[str, Method]] = field(default_factory=dict)
    formulas: Formulas = field(default_factory=dict)
