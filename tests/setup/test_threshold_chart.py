"""The errors of thresholds are shares of releases and of simulated cheats."""

from anoncup.schemas.advice import EXAMPLE, Advice, parse_advice
from app.core.locale.language import load_translator
from app.core.pages.vega import Chart, draw_rules
from app.setup.threshold_chart import draw_threshold_errors

EN = load_translator("en")
METHODS = [("noise", {"scale": 0.5}, 0.02), ("microaggregation", {}, 0.05)]
HONEST, CHEAT = "Rejected: sample methods", "Accepted: Everybody in another’s place"
X = {
    "field": "distance",
    "type": "quantitative",
    "title": "Mean distance",
    "scale": {"domain": [0, 0.38], "nice": False, "padding": 0},
}
Y = {
    "field": "share",
    "type": "quantitative",
    "title": None,
    "scale": {"domain": [-0.2, 1.25], "nice": False, "padding": 0},
    "axis": {"format": "%", "values": [0, 0.25, 0.5, 0.75, 1]},
}


def build_report() -> Advice:
    """Return the example of the schema with two sample methods."""
    contest = EXAMPLE["contest"]
    methods = [
        contest["releases"][0]
        | {"kind": "method", "method": name, "parameters": parameters, "mean_distance": distance}
        for name, parameters, distance in METHODS
    ]
    return parse_advice(EXAMPLE | {"contest": contest | {"releases": [*contest["releases"], *methods]}})


def build_tick(distance: float, text: str, *, honest: bool = True) -> dict[str, object]:
    share = -0.06 if honest else -0.14
    return {"distance": distance, "share": share, "honest": honest, "description": text}


def test_errors_are_one_specification() -> None:
    rejected = [(HONEST, 0.0, 1.0), (HONEST, 0.02, 0.5), (HONEST, 0.05, 0.0)]
    accepted = [(CHEAT, 0.0, 0.0), (CHEAT, 0.32, 0.4), (CHEAT, 0.35, 1.0)]
    steps = [
        {"kind": kind, "distance": distance, "share": share}
        for kind, distance, share in [*rejected, (HONEST, 0.38, 0.0), *accepted, (CHEAT, 0.38, 1.0)]
    ]
    ticks = [
        build_tick(0.0, "Unchanged original: 0", honest=False),
        build_tick(0.02, "Noise on every cell (0.5): 0.02"),
        build_tick(0.05, "microaggregation: 0.05"),
    ]
    colour = {
        "field": "kind",
        "scale": {"domain": [HONEST, CHEAT], "range": ["var(--data-1)", "var(--data-2)"]},
        "legend": {
            "orient": "bottom",
            "title": None,
            "columns": 1,
            "symbolOpacity": 1,
        },
    }
    assert draw_threshold_errors(build_report(), EN) == Chart(
        "errors",
        "Errors by threshold",
        "For each threshold: the share of the sample methods’ releases that it rejects, and of the simulated "
        "cheats of each kind that it accepts. Below are the releases of the contest of sample methods.",
        {
            "height": 280,
            "layer": [
                {
                    "data": {"values": steps},
                    "mark": {"type": "area", "line": True, "opacity": 0.2},
                    "encoding": {"x": X, "y": Y | {"stack": None}, "color": colour},
                },
                {
                    "data": {"values": ticks},
                    "mark": {"type": "tick", "orient": "vertical", "thickness": 2, "height": 14},
                    "encoding": {
                        "x": X,
                        "y": Y,
                        "color": {
                            "condition": {"test": "datum.honest", "value": "var(--data-1)"},
                            "value": "var(--quiet)",
                        },
                        "tooltip": {"field": "description"},
                        "description": {"field": "description"},
                    },
                },
                *draw_rules(X, {"Threshold 0.04": 0.04}),
            ],
        },
        head=("Error", "From the threshold", "Share"),
        rows=[*rejected, *accepted],
    )


def test_nothing_is_drawn_without_simulations() -> None:
    assert draw_threshold_errors(parse_advice(EXAMPLE | {"histograms": {}}), EN) is None
