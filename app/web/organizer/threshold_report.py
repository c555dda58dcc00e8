"""Present a report of the threshold advisor in words and charts."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from anoncup import schemas
from anoncup.messages import Message
from app.charts.axes import write_number
from app.charts.bounds import BoundWords, DistanceBound, build_bounds
from app.charts.figure import Figure
from app.charts.histogram import PanelWords, build_histogram_panels
from app.charts.text import translate_words
from app.charts.threshold_errors import ErrorWords, SampleRelease, SimulatedCheats, build_threshold_errors
from app.locale.language import Translator
from app.web.site.sentences import translate_sentence


@dataclass(frozen=True, slots=True)
class ReportView:
    """A report prepared for its page.

    ``histograms`` is None if nothing was simulated. ``refused_methods`` names the sample methods whose
    releases no threshold accepts. ``remedy`` tells what to do if no threshold is recommended.
    """

    report: schemas.Advice
    histograms: Figure | None
    bounds: Figure
    errors: Figure
    refused_methods: str
    remedy: str
    t: Translator

    def format_chance(self, cheat: Any) -> Markup:
        """Return the probability that more individuals stay in place than the bound assumes, as HTML."""
        log2_chance = cheat.log2_chance
        return (
            Markup("0")
            if log2_chance is None
            else _format_power_of_two(self.t.localize_numbers(f"{log2_chance:.1f}"))
        )

    def describe_reason(self, message: Message) -> str:
        """Return a reason as a sentence, with its distances formatted as in the charts."""
        distances = {
            name: self.t.localize_numbers(write_number(value))
            for name, value in message.values.items()
            if isinstance(value, float)
        }
        return translate_sentence(Message(message.template, **{**message.values, **distances}), self.t)

    @property
    def miss_probability(self) -> Markup:
        """The probability that a cheat is accepted, as HTML."""
        return _format_power_of_two(f"-{self.report.bits}")


def _format_power_of_two(exponent: str) -> Markup:
    return Markup("2<sup>{}</sup>").format(exponent.replace("-", "−"))


def build_report_view(report: schemas.Advice, t: Translator) -> ReportView:
    histograms = {
        t.label(f"adv_cheat_{name}"): (histogram.counts, histogram.edges[0], histogram.edges[-1])
        for name, histogram in report.histograms.items()
    }
    return ReportView(
        report,
        _draw_histograms(histograms, report, t) if histograms else None,
        _draw_bounds(report, t),
        _draw_errors(report, report.evidence, t),
        _list_refused_methods(report.evidence, t),
        _describe_remedy(report, t) if report.recommended_threshold is None else "",
        t,
    )


def _compute_interval(report: schemas.Advice) -> tuple[float, float] | None:
    return (report.low, report.high) if report.low < report.high else None


def _draw_histograms(histograms: Mapping[str, Any], report: schemas.Advice, t: Translator) -> Figure:
    interval = _compute_interval(report)
    has_guaranteed_threshold = interval is not None and report.threshold is not None
    words = translate_words(
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
        empty=t("Nothing was simulated."),
        summary=t.label("adv_simulated_said" if has_guaranteed_threshold else "adv_simulated_alone"),
        panel_summary=t("{name}: {count} permutations, from {least} to {largest}."),
        point=t("{name}, {low} – {high}: {count}"),
    )
    return build_histogram_panels(
        histograms, words, interval=interval, threshold=report.threshold, identifier="simulated"
    )


def _draw_bounds(report: schemas.Advice, t: Translator) -> Figure:
    words = translate_words(
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
        empty=t("There are no bounds to show."),
        summary=t(
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
    points = [
        DistanceBound(
            report_bound.fixed,
            report_bound.s_lower,
            report_bound.lower,
            report_bound.upper,
            report_bound.exact,
        )
        for report_bound in report.bounds
    ]
    figure = build_bounds(points, words, fixed=report.fixed, threshold=report.threshold, identifier="bounds")
    return replace(figure, rows=())  # the page has its own table, which also marks exact bounds


def _draw_errors(report: schemas.Advice, evidence: schemas.AdviceEvidence, t: Translator) -> Figure:
    honest_releases = [
        SampleRelease(_describe_method(item, t), item.mean)
        for item in evidence.honest
        if item.mean is not None
    ]
    mixed_releases = [
        SampleRelease(
            f"{_describe_method(item, t)}, {t.label(f'adv_cheat_{item.cheat}')} "
            f"{t.localize_numbers(f'{100 * item.share:g}%')}",
            item.mean,
        )
        for item in evidence.mixtures
    ]
    passing_cheats = evidence.errors[0].passing
    simulated_cheats = {
        name: SimulatedCheats(item.counts, item.edges)
        for name, item in report.histograms.items()
        if name in passing_cheats
    }
    words = translate_words(
        ErrorWords,
        t,
        **_describe_incomplete_chart(bool(simulated_cheats), report.recommended_threshold is not None, t),
    )
    interval = _compute_interval(report)
    return build_threshold_errors(
        honest_releases,
        mixed_releases,
        simulated_cheats,
        words,
        interval=interval,
        threshold=report.recommended_threshold,
    )


def _describe_incomplete_chart(has_cheats: bool, has_threshold: bool, t: Translator) -> dict[str, str]:
    """Return a replacement for the chart's summary if simulated cheats or the threshold are missing."""
    if has_cheats and has_threshold:
        return {}
    missing = "no_threshold" if has_cheats else "no_cheats" if has_threshold else "neither"
    return {"summary": t.label(f"adv_errors_{missing}")}


def _describe_remedy(report: schemas.Advice, t: Translator) -> str:
    """Tell what to do about a report that recommends no threshold."""
    codes = {reason.code for reason in report.evidence.reasons}
    for code in ("not_simulated", "inseparable"):
        if code in codes:
            return t.label(f"adv_remedy_{code}")
    return "" if report.remedy_message is None else translate_sentence(report.remedy_message, t)


def _list_refused_methods(evidence: schemas.AdviceEvidence, t: Translator) -> str:
    """Return the names of the sample methods whose releases no threshold accepts."""
    names = [_label_method(release.method, t) for release in evidence.honest if release.mean is None]
    return ", ".join(dict.fromkeys(names))


def _label_method(method: str, t: Translator) -> str:
    return t.label(f"method_{method}", method)


def _describe_method(release: Any, t: Translator) -> str:
    """Return the name of a sample method with its parameters; a list of columns appears as its length."""
    values = [len(value) if isinstance(value, list) else value for value in release.parameters.values()]
    name = _label_method(release.method, t)
    return f"{name} ({', '.join(t.localize_numbers(f'{value:g}') for value in values)})" if values else name
