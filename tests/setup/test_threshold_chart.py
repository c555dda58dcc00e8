"""The errors of thresholds are shares of releases and of simulated cheats."""

from anoncup.schemas.advice import Advice, parse_advice
from app.core.locale.language import load_translator
from app.setup.threshold_chart import draw_threshold_errors
from tests.recorded import REPORT

EN = load_translator("en")
METHODS = [("noise", {"scale": 0.5}, 0.02), ("microaggregation", {}, 0.05)]
HONEST, CHEAT = "Rejected: sample methods", "Accepted: Everybody in another’s place"


def build_report() -> Advice:
    """Return the recorded report with two sample methods."""
    contest = REPORT["contest"]
    methods = [
        contest["releases"][0]
        | {"kind": "method", "method": name, "parameters": parameters, "mean_distance": distance}
        for name, parameters, distance in METHODS
    ]
    return parse_advice(REPORT | {"contest": contest | {"releases": [*contest["releases"], *methods]}})


def build_tick(distance: float, text: str, *, honest: bool = True) -> dict[str, object]:
    share = -0.06 if honest else -0.14
    return {"distance": distance, "share": share, "honest": honest, "description": text}


def test_errors_are_drawn_as_steps_above_the_releases() -> None:
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
    chart = draw_threshold_errors(build_report(), EN)
    assert chart is not None
    curves, releases, *rules = chart.specification["layer"]
    assert curves["data"]["values"] == steps
    assert curves["encoding"]["color"]["scale"]["domain"] == [HONEST, CHEAT]
    assert releases["data"]["values"] == ticks
    assert "Threshold 0.04" in str(rules)
    assert list(chart.rows) == [*rejected, *accepted]


def test_nothing_is_drawn_without_simulations() -> None:
    assert draw_threshold_errors(parse_advice(REPORT | {"histograms": {}}), EN) is None
