"""A report of the advisor in words and pictures."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

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

    def chance(self, cheat: Mapping[str, Any]) -> Markup:
        """How likely more stay in place than the bound reckons with."""
        chance = cheat["log2_chance"]
        return Markup("0") if chance is None else power_of_two(f"{chance:.1f}")

    @property
    def miss(self) -> Markup:
        """How likely a cheat slips through."""
        return power_of_two(f"-{self.report['bits']}")


def power_of_two(exponent: str) -> Markup:
    return Markup("2<sup>{}</sup>").format(exponent.replace("-", "−"))


def advised(report: Mapping[str, Any], t: Mapping[str, str]) -> Advised:
    kinds = {
        t[f"adv_cheat_{name}"]: (one["counts"], one["edges"][0], one["edges"][-1])
        for name, one in report["histograms"].items()
    }
    return Advised(report, panels(kinds, report, t) if kinds else None, bounds_of(report, t))


def panels(kinds: Mapping[str, Any], report: Mapping[str, Any], t: Mapping[str, str]) -> Figure:
    interval = (report["low"], report["high"]) if report["low"] < report["high"] else None
    separates = interval is not None and report["threshold"] is not None
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
        said=t["adv_simulated_said" if separates else "adv_simulated_alone"],
        each=t["adv_simulated_each"],
        point=t["adv_simulated_point"],
    )
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
    drawn = bounds(found, words, fixed=report["fixed"], threshold=report["threshold"], identifier="bounds")
    return replace(drawn, rows=())  # the page itself lists them, and says which are exact
