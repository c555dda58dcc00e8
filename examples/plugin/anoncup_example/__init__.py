"""A measure, an attacker and a method for contests on microdata: their names and parameters."""

from anoncup.lazy import lazy_in
from anoncup.rules.parameters import Parameter
from anoncup.tracks.parts import Attacker, Measure, Method
from anoncup.tracks.plugin import Plugin

_lazy = lazy_in(__name__)

LOST_FORMULA = r"\frac{\left|K \smallsetminus K^\prime\right|}{\left|K\right|}"

PLUGIN = Plugin(
    api=0,
    measures={
        "microdata": {
            "combinations_lost": Measure(
                "combinations_lost",
                1,
                _lazy("parts.combinations_lost"),
                (Parameter("columns", "columns", "quasi_identifiers"),),
                weighs=True,
                reads_secret=False,
            )
        }
    },
    attackers={"microdata": {"nearest_total": Attacker("nearest_total", 1, _lazy("parts.nearest_total"))}},
    methods={
        "microdata": {
            "round_values": Method(
                "round_values", _lazy("parts.round_values"), (Parameter("step", "amount", default=10.0),)
            )
        }
    },
    formulas={"microdata": {"combinations_lost": LOST_FORMULA}},
)
