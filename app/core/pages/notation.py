"""Format numbers, times and symbols independently of the language.

``Translator.localize_numbers`` then adapts the texts to a language.
"""

import math
import re
from datetime import datetime
from zoneinfo import ZoneInfo

from markupsafe import Markup, escape

from anoncup.schemas import Board, BoardRow
from app.core.locale.language import Translator

_MAX_MAGNITUDE = 1e300
"""Larger numbers are shown as this value, and those below its inverse as 0."""
_DECIMAL_RANGE = (1e-9, 1e9)
"""Numbers from the first to below the second are written without a power of ten."""
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def format_number(value: float | None) -> str:
    """Return a number rounded for readers; JSON and CSV have the full precision.

    Numbers from 1,000 on have one decimal, smaller ones four, and those below 0.001 two significant digits;
    trailing zeros are removed. From 10⁹ on and below 10⁻⁹ a power of ten is used. Missing or infinite values
    give "–".
    """
    if value is None or not math.isfinite(value):
        return "–"
    value = min(max(value, -_MAX_MAGNITUDE), _MAX_MAGNITUDE)
    size = abs(value)
    if size < 1 / _MAX_MAGNITUDE:
        return "0"
    if not _DECIMAL_RANGE[0] <= size < _DECIMAL_RANGE[1]:
        mantissa, power = f"{value:.3e}".split("e")
        return f"{_trim_zeros(mantissa)}×10{str(int(power)).translate(_SUPERSCRIPTS)}"
    decimal_places = 1 if size >= 1e3 else 4 if size >= 1e-3 else 1 - math.floor(math.log10(size))
    return _trim_zeros(f"{value:,.{decimal_places}f}")


def _trim_zeros(digits: str) -> str:
    """Remove zeros and the point at the end of decimals; use minus signs, which are as wide as a digit."""
    return digits.rstrip("0").rstrip(".").replace("-", "−")


def localize_number(value: float | None, t: Translator) -> str:
    """Return a number rounded for readers, with the signs of their language."""
    return t.localize_numbers(format_number(value))


def format_exact_number(number: float) -> str:
    """Return the shortest text of exactly this number, for settings and fields of forms: 60, not 60.0."""
    return f"{number:g}" if float(f"{number:g}") == number else repr(number)


def format_clock_time(moment: datetime, zone: str) -> str:
    """Return a time in the time zone of the competition, with seconds and the name of the zone."""
    return moment.astimezone(ZoneInfo(zone)).strftime("%Y-%m-%d %H:%M:%S %Z")


def format_short_time(moment: datetime, zone: str, with_seconds: bool = False) -> str:
    """Return a time without year and zone, for table columns whose heading names the zone."""
    return moment.astimezone(ZoneInfo(zone)).strftime("%m-%d %H:%M:%S" if with_seconds else "%m-%d %H:%M")


def get_zone_abbreviation(moment: datetime, zone: str) -> str:
    """Return the abbreviation of the time zone at this moment."""
    return moment.astimezone(ZoneInfo(zone)).strftime("%Z")


def format_percent(share: float) -> str:
    """Return a share in [0, 1] as a percentage.

    Percentages have no decimals from 10% on, one decimal from 1% on, and two significant digits below that.
    Only 0 gives 0%, and only 1 gives 100%.
    """
    percentage = 100 * share
    digits = 0 if percentage >= 10 or percentage == 0 else max(1, 1 - math.floor(math.log10(percentage)))
    while percentage < 100 and round(percentage, digits) == 100:
        digits += 1
    text = f"{percentage:.{digits}f}"
    return (text.rstrip("0").rstrip(".") if digits else text) + "%"


def format_hundredths(rate: float | None) -> str:
    """Return the text of a coloured cell: two decimals, or a dash if there is no rate.

    Only the exact values 0 and 1 are shown as 0 and 1.
    """
    if rate is None:
        return "—"
    if rate <= 0 or rate >= 1:
        return "0" if rate <= 0 else "1"
    return "<0.01" if rate < 0.005 else ">0.99" if rate >= 0.995 else f"{rate:.2f}"


def find_heat_class(rate: float | None) -> str:
    """Return the CSS class of a cell that is coloured by the tenth of its rate."""
    return "vacant" if rate is None else f"heat-{round(10 * min(max(rate, 0.0), 1.0))}"


SCORE_DIGITS = 4


def format_score(number: float | None, digits: int = SCORE_DIGITS) -> str:
    """Return a score or rate in [0, 1] with a fixed number of decimals, so that columns align."""
    return "–" if number is None else f"{number:.{digits}f}"


def localize_score(value: float | None, t: Translator, digits: int = SCORE_DIGITS) -> str:
    """Return a score or rate with a fixed number of decimals, with the signs of the reader's language."""
    return t.localize_numbers(format_score(value, digits))


def get_score_digits(board: Board, row: BoardRow) -> int:
    """Return the number of decimals with which a board shows U and E of a row."""
    return SCORE_DIGITS if row.own or board.digits is None else board.digits


def mark_up_symbols(text: str) -> Markup:
    """Return the text as HTML, with symbols such as ``s_j`` typeset as in formulas."""
    return Markup(  # noqa: S704  # the text is escaped
        re.sub(r"\b([a-z])_([a-z])\b", r"<i>\1<sub>\2</sub></i>", str(escape(text)))
    )
