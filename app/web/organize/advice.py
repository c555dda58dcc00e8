"""A report of the advisor in words and pictures."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.web.charts.bounds import Bound, BoundWords, bounds
from app.web.charts.figure import Figure
from app.web.charts.histogram import PanelWords, histograms


@dataclass(frozen=True, slots=True)
class Advised:
    """A report to be shown. ``histograms``: None if nothing was simulated."""

    report: Mapping[str, Any]
    histograms: Figure | None
    bounds: Figure

    @property
    def remedy(self) -> str:
        """The word for what to change where no threshold separates; it follows the advisor's sentence."""
        said = self.report["remedy"] or ""
        if "the same data" in said:
            return "adv_remedy_repeated"
        return "adv_remedy_groups" if "groups have one individual" in said else "adv_remedy_few"

    def chance(self, cheat: Mapping[str, Any]) -> str:
        """How likely more stay in place than the bound reckons with."""
        chance = cheat["log2_chance"]
        return "0" if chance is None else f"2^{chance:.1f}"


def advised(report: Mapping[str, Any], t: Mapping[str, str]) -> Advised:
    kinds = {
        t[f"adv_cheat_{name}"]: (one["counts"], one["edges"][0], one["edges"][-1])
        for name, one in report["histograms"].items()
    }
    return Advised(report, panels(kinds, report, t) if kinds else None, bounds_of(report, t))


def panels(kinds: Mapping[str, Any], report: Mapping[str, Any], t: Mapping[str, str]) -> Figure:
    words = PanelWords(
        title=t["adv_simulated"],
        x=t["adv_mean_distance"],
        name=t["adv_cheat"],
        low=t["adv_from"],
        high=t["adv_to"],
        count=t["adv_permutations"],
        threshold=t["threshold"],
        interval=t["adv_allowed_interval"],
        none=t["adv_nothing_simulated"],
        said=t["adv_simulated_said"],
        each=t["adv_simulated_each"],
        point=t["adv_simulated_point"],
    )
    interval = (report["low"], report["high"]) if report["low"] < report["high"] else None
    return histograms(kinds, words, interval=interval, threshold=report["threshold"], identifier="simulated")


def bounds_of(report: Mapping[str, Any], t: Mapping[str, str]) -> Figure:
    words = BoundWords(
        title=t["adv_bounds"],
        x=t["adv_fixed_points"],
        y=t["adv_mean_distance"],
        s_lower=t["adv_bound_s_lower"],
        lower=t["adv_bound_lower"],
        upper=t["adv_bound_upper"],
        threshold=t["threshold"],
        fixed=t["adv_fixed_rule"],
        none=t["adv_no_bounds"],
        said=t["adv_bounds_said"],
        point=t["adv_bounds_point"],
    )
    found = [Bound(**one) for one in report["bounds"]]
    return bounds(found, words, fixed=report["fixed"], threshold=report["threshold"], identifier="bounds")
