"""A report of the advisor in words and pictures."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from anoncup import schemas
from anoncup.messages import Message
from app.charts.axes import number
from app.charts.bounds import Bound, BoundWords, bounds
from app.charts.figure import Figure
from app.charts.histogram import PanelWords, histograms
from app.charts.text import worded
from app.charts.threshold_errors import ErrorWords, Release, Simulated, errors
from app.locale.language import Words
from app.web.site.sentences import sentence


@dataclass(frozen=True, slots=True)
class Advised:
    """A report to be shown. ``histograms``: None if nothing was simulated; ``refused``: the methods that
    could not be tried; ``remedy``: what to do where no threshold is recommended."""

    report: schemas.Advice
    histograms: Figure | None
    bounds: Figure
    errors: Figure
    refused: str
    remedy: str
    t: Words

    def chance(self, cheat: Any) -> Markup:
        """How likely more stay in place than the bound reckons with."""
        chance = cheat.log2_chance
        return Markup("0") if chance is None else power_of_two(self.t.written(f"{chance:.1f}"))

    def reason(self, message: Message) -> str:
        """Return a sentence of the report with its distances written as in the pictures."""
        distances = {
            name: self.t.written(number(value))
            for name, value in message.values.items()
            if isinstance(value, float)
        }
        return sentence(Message(message.template, **{**message.values, **distances}), self.t)

    @property
    def miss(self) -> Markup:
        """How likely a cheat slips through."""
        return power_of_two(f"-{self.report.bits}")


def power_of_two(exponent: str) -> Markup:
    return Markup("2<sup>{}</sup>").format(exponent.replace("-", "−"))


def advised(report: schemas.Advice, t: Words) -> Advised:
    kinds = {
        t.label(f"adv_cheat_{name}"): (one.counts, one.edges[0], one.edges[-1])
        for name, one in report.histograms.items()
    }
    return Advised(
        report,
        panels(kinds, report, t) if kinds else None,
        bounds_of(report, t),
        errors_of(report, report.evidence, t),
        refused_of(report.evidence, t),
        remedy_of(report, t) if report.recommended is None else "",
        t,
    )


def interval_of(report: schemas.Advice) -> tuple[float, float] | None:
    return (report.low, report.high) if report.low < report.high else None


def panels(kinds: Mapping[str, Any], report: schemas.Advice, t: Words) -> Figure:
    interval = interval_of(report)
    separates = interval is not None and report.threshold is not None
    words = worded(
        PanelWords,
        t,
        title=t("Mean distance of cheats"),
        x=t("Mean distance"),
        name=t("Cheat"),
        low=t("From"),
        high=t("To"),
        count=t("Permutations"),
        threshold=t("Threshold"),
        interval=t("guaranteed"),
        none=t("Nothing was simulated."),
        said=t.label("adv_simulated_said" if separates else "adv_simulated_alone"),
        each=t("{name}: {count} permutations, from {least} to {largest}."),
        point=t("{name}, {low} – {high}: {count}"),
    )
    return histograms(kinds, words, interval=interval, threshold=report.threshold, identifier="simulated")


def bounds_of(report: schemas.Advice, t: Words) -> Figure:
    words = worded(
        BoundWords,
        t,
        title=t("Smallest mean distance of a permutation"),
        x=t("Fixed points"),
        y=t("Mean distance"),
        s_lower=t("Simple lower bound"),
        lower=t("Certified lower bound"),
        upper=t("A permutation found"),
        threshold=t("Threshold"),
        fixed=t("assumed in place:"),
        none=t("There are no bounds to show."),
        said=t(
            "If at most {fixed} individuals stay in place, the mean distance is at least {bound}; "
            "no threshold is guaranteed."
        )
        if report.threshold is None
        else t(
            "If at most {fixed} individuals stay in place, the mean distance is at least {bound}; "
            "the largest guaranteed threshold is {threshold}."
        ),
        point=t("{series}, {fixed} in place: {value}"),
    )
    found = [Bound(one.fixed, one.s_lower, one.lower, one.upper, one.exact) for one in report.bounds]
    drawn = bounds(found, words, fixed=report.fixed, threshold=report.threshold, identifier="bounds")
    return replace(drawn, rows=())  # the page itself lists them, and says which are exact


def errors_of(report: schemas.Advice, found: schemas.Evidence, t: Words) -> Figure:
    honest = [Release(made_by(one, t), one.mean) for one in found.honest if one.mean is not None]
    mixed = [
        Release(
            f"{made_by(one, t)}, {t.label(f'adv_cheat_{one.cheat}')} {t.written(f'{100 * one.share:g}%')}",
            one.mean,
        )
        for one in found.mixtures
    ]
    cheating = found.errors[0].passing
    simulated = {
        name: Simulated(one.counts, one.edges) for name, one in report.histograms.items() if name in cheating
    }
    words = worded(ErrorWords, t, **said_of_errors(bool(simulated), report.recommended is not None, t))
    interval = interval_of(report)
    return errors(honest, mixed, simulated, words, interval=interval, threshold=report.recommended)


def said_of_errors(simulated: bool, recommended: bool, t: Words) -> dict[str, str]:
    """What the picture's description says where it has no cheats, or no threshold, to speak of."""
    if simulated and recommended:
        return {}
    about = "no_threshold" if simulated else "no_cheats" if recommended else "neither"
    return {"said": t.label(f"adv_errors_{about}")}


def remedy_of(report: schemas.Advice, t: Words) -> str:
    """What to do about a report that recommends no threshold."""
    codes = {reason.code for reason in report.evidence.reasons}
    for code in ("not_simulated", "inseparable"):
        if code in codes:
            return t.label(f"adv_remedy_{code}")
    return "" if report.change is None else sentence(report.change, t)


def refused_of(found: schemas.Evidence, t: Words) -> str:
    """The methods whose releases no threshold accepts."""
    names = [method_name(one.method, t) for one in found.honest if one.mean is None]
    return ", ".join(dict.fromkeys(names))


def method_name(method: str, t: Words) -> str:
    return t.label(f"method_{method}", method)


def made_by(one: Any, t: Words) -> str:
    """The sample method and how strong it was: numbers as they are, of columns how many."""
    chosen = [len(each) if isinstance(each, list) else each for each in one.parameters.values()]
    name = method_name(one.method, t)
    return f"{name} ({', '.join(t.written(f'{each:g}') for each in chosen)})" if chosen else name
