"""Contents of an installed package: tracks, measures, attackers and methods."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from anoncup.tracks.model import Track
from anoncup.tracks.parts import Attacker, Measure, Method

API = 0
"""Version of the plug-in interface; it increases when packages must be adapted."""
Formulas = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Plugin:
    """Contents of a package. ``api``: version of the plug-in interface it was written for, a literal.

    ``tracks`` by name; ``measures``, ``attackers`` and ``methods`` by the name of a track, then by their own.
    ``formulas`` of measures in the same way, each a ``<math>`` element. Texts come from a message catalogue
    of the package, which is registered in another entry point group (``app.locale.language``).
    """

    api: int
    tracks: Mapping[str, Track] = field(default_factory=dict)
    measures: Mapping[str, Mapping[str, Measure]] = field(default_factory=dict)
    attackers: Mapping[str, Mapping[str, Attacker]] = field(default_factory=dict)
    methods: Mapping[str, Mapping[str, Method]] = field(default_factory=dict)
    formulas: Formulas = field(default_factory=dict)
