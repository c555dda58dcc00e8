"""A report of the advisor in words and pictures."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from app.charts.bounds import Bound, BoundWords, bounds
from app.charts.figure import Figure
from app.charts.histogram import PanelWords, histograms
from app.charts.worded import worded
from app.language import Words


@dataclass(frozen=True, slots=True)
class Advised:
    """A report to be shown. ``histograms``: None if nothing was simulated."""

    report: Mapping[str, Any]
    histograms: Figure | None
    bounds: Figure
    t: Words

    def chance(self, cheat: Mapping[str, Any]) -> Markup:
        """How likely more stay in place than the bound reckons with."""
        chance = cheat["log2_chance"]
        return Markup("0") if chance is None else power_of_two(self.t.written(f"{chance:.1f}"))

    @property
    def miss(self) -> Markup:
        """How likely a cheat slips through."""
        return power_of_two(f"-{self.report['bits']}")


def power_of_two(exponent: str) -> Markup:
    return Markup("2<sup>{}</sup>").format(exponent.replace("-", "−"))


def advised(report: Mapping[str, Any], t: Words) -> Advised:
    kinds = {
        t.label(f"adv_cheat_{name}"): (one["counts"], one["edges"][0], one["edges"][-1])
        for name, one in report["histograms"].items()
    }
    return Advised(report, panels(kinds, report, t) if kinds else None, bounds_of(report, t), t)


def panels(kinds: Mapping[str, Any], report: Mapping[str, Any], t: Words) -> Figure:
    interval = (report["low"], report["high"]) if report["low"] < report["high"] else None
    separates = interval is not None and report["threshold"] is not None
    words = worded(
        PanelWords,
        t,
        title=t("What cheating costs"),
        x=t("Mean distance"),
        name=t("Cheat"),
        low=t("From"),
        high=t("To"),
        count=t("Permutations"),
        threshold=t("Threshold"),
        interval=t("thresholds that separate"),
        none=t("Nothing was simulated."),
        said=t.label("adv_simulated_said" if separates else "adv_simulated_alone"),
        each=t("{name}: {count} permutations, from {least} to {largest}."),
        point=t("{name}, {low} – {high}: {count}"),
    )
    return histograms(kinds, words, interval=interval, threshold=report["threshold"], identifier="simulated")


def bounds_of(report: Mapping[str, Any], t: Words) -> Figure:
    words = worded(
        BoundWords,
        t,
        title=t("How little a permutation can move people"),
        x=t("Individuals that stay in place"),
        y=t("Mean distance"),
        s_lower=t("Simple lower bound"),
        lower=t("Certified lower bound"),
        upper=t("A permutation found"),
        threshold=t("Threshold"),
        fixed=t("assumed in place:"),
        none=t("There are no bounds to show."),
        said=t(
            "If at most {fixed} individuals stay in place, the mean distance is at least {bound}; "
            "the recommended threshold is {threshold}."
        ),
        point=t("{series}, {fixed} in place: {value}"),
    )
    found = [Bound(**one) for one in report["bounds"]]
    drawn = bounds(found, words, fixed=report["fixed"], threshold=report["threshold"], identifier="bounds")
    return replace(drawn, rows=())  # the page itself lists them, and says which are exact
