"""The shares of honest releases that a threshold rejects, and of cheats that it accepts."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

from anoncup.schemas import Advice, PlayedRelease
from app.core.locale.language import Translator
from app.core.pages.notation import localize_number
from app.core.pages.vega import (
    DATA,
    DESCRIBED,
    QUIET,
    Chart,
    Spec,
    choose,
    draw_rules,
    encode_kind,
    encode_number,
)

_COLOURS = (DATA, "var(--data-2)", "var(--data-3)", "var(--data-4)")

Curve = tuple[str, list[tuple[float, float]]]
"""A name, and the share from each distance on, ascending."""


def draw_threshold_errors(report: Advice, t: Translator) -> Chart | None:
    """Draw the errors of all thresholds, or nothing if no cheat was simulated."""
    if not report.histograms:
        return None
    curves = list(_list_curves(report, t))
    return Chart(
        "errors",
        t("Errors by threshold"),
        t(
            "For each threshold: the share of the sample methods’ releases that it rejects, and of the "
            "simulated cheats of each kind that it accepts. Below are the releases of the contest of sample "
            "methods."
        ),
        _build_specification(report, curves, t),
        head=(t("Error"), t("From the threshold"), t("Share")),
        rows=[(name, distance, share) for name, steps in curves for distance, share in steps],
    )


def _list_curves(report: Advice, t: Translator) -> Iterator[Curve]:
    distances = sorted(
        release.mean_distance for release in report.contest.releases if release.kind == "method"
    )
    if distances:
        rejected = [(distance, 1 - rank / len(distances)) for rank, distance in enumerate(distances, start=1)]
        yield t("Rejected: sample methods"), [(0.0, 1.0), *rejected]
    for name, simulation in report.histograms.items():
        # Where a bin begins, all of it is counted, so that no share is too small.
        counts = [0, *accumulate(simulation.counts)]
        edges = [0.0, *simulation.edges[:-1]]
        shares = [count / simulation.draws for count in counts]
        yield (
            t("Accepted: {name}", name=t.label(f"adv_cheat_{name}")),
            list(zip(edges, shares, strict=True)),
        )


def _build_specification(report: Advice, curves: Sequence[Curve], t: Translator) -> Spec:
    releases = report.contest.releases
    largest = max(
        *(distance for _, steps in curves for distance, _ in steps),
        *(simulation.edges[-1] for simulation in report.histograms.values()),
        *(release.mean_distance for release in releases),
        report.threshold or 0,
    )
    x = encode_number("distance", t("Mean distance"), (0, largest))
    y = encode_number("share", None, (-0.2, 1.25))
    y["axis"] = {"format": "%", "values": [0, 0.25, 0.5, 0.75, 1]}
    steps = [
        {"kind": name, "distance": distance, "share": share}
        for name, curve in curves
        for distance, share in [*curve, (largest, curve[-1][1])]
    ]
    colours = encode_kind([name for name, _ in curves], _COLOURS[: len(curves)])
    colours["legend"] |= {"columns": 1, "symbolOpacity": 1}
    return {
        "height": 280,
        "layer": [
            {
                "data": {"values": steps},
                "mark": {"type": "area", "line": True, "opacity": 0.2},
                "encoding": {"x": x, "y": y | {"stack": None}, "color": colours},
            },
            {
                "data": {"values": list(_list_ticks(releases, t))},
                "mark": {"type": "tick", "orient": "vertical", "thickness": 2, "height": 14},
                "encoding": {"x": x, "y": y, "color": choose("datum.honest", DATA, QUIET), **DESCRIBED},
            },
            *(
                draw_rules(x, {_label_threshold(report.threshold, t): report.threshold})
                if report.threshold
                else []
            ),
        ],
    }


def _label_threshold(threshold: float, t: Translator) -> str:
    return " ".join((t("Threshold"), localize_number(threshold, t)))


def _list_ticks(releases: Iterable[PlayedRelease], t: Translator) -> Iterator[Spec]:
    """Return a mark below the axis for each release, sample methods above the others."""
    for release in releases:
        honest = release.kind == "method"
        yield {
            "distance": release.mean_distance,
            "share": -0.06 if honest else -0.14,
            "honest": honest,
            "description": f"{describe_release(release, t)}: {localize_number(release.mean_distance, t)}",
        }


def describe_release(release: PlayedRelease, t: Translator) -> str:
    """Return the label of a release's method with its parameters, or that of the unchanged original."""
    if release.method is None:
        return t("Unchanged original")
    values = ", ".join(
        " + ".join(value) if isinstance(value, list) else t.localize_numbers(f"{value:g}")
        for value in release.parameters.values()
    )
    name = t.label(f"method_{release.method}", release.method)
    return f"{name} ({values})" if values else name
