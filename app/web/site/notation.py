"""Format numbers, times and symbols; ``Translator.localize_numbers`` then adapts them to a language."""

import re
from datetime import datetime
from math import floor, log10
from zoneinfo import ZoneInfo

from markupsafe import Markup, escape

from anoncup.schemas import Board, BoardRow
from app.charts.axes import write_number


def format_number(value: float | None) -> str:
    """Return a number for people; full precision is in JSON and CSV."""
    if value is not None and 0 < abs(value) < 1e-9:
        return "≈0"  # a rounding error, which the scores treat as 0, too
    return write_number(value)


def format_clock_time(moment: datetime, zone: str) -> str:
    """Return a time in the time zone of the competition, with seconds and the name of the zone."""
    return moment.astimezone(ZoneInfo(zone)).strftime("%Y-%m-%d %H:%M:%S %Z")


def format_clock_minute(moment: datetime, zone: str, seconds: bool = False) -> str:
    """Return month, day and minute in the time zone, for columns whose heading names the zone."""
    return moment.astimezone(ZoneInfo(zone)).strftime("%m-%d %H:%M:%S" if seconds else "%m-%d %H:%M")


def zone_name(moment: datetime, zone: str) -> str:
    """Return the abbreviation of the time zone at this moment."""
    return moment.astimezone(ZoneInfo(zone)).strftime("%Z")


def format_percent(share: float) -> str:
    """Return a share in [0, 1] as a percentage.

    From 10% it has no decimals, from 1% one decimal, and below two significant digits. Only 0 gives 0%, and
    only 1 gives 100%.
    """
    percentage = 100 * share
    digits = 0 if percentage >= 10 or percentage == 0 else max(1, 1 - floor(log10(percentage)))
    while percentage < 100 and round(percentage, digits) == 100:
        digits += 1
    text = f"{percentage:.{digits}f}"
    return (text.rstrip("0").rstrip(".") if digits else text) + "%"


SCORE_DIGITS = 4


def format_score(number: float | None, digits: int = SCORE_DIGITS) -> str:
    """Return a score or rate in [0, 1] with a fixed number of decimals, so that columns align."""
    return "–" if number is None else f"{number:.{digits}f}"


def score_digits_of(board: Board, row: BoardRow) -> int:
    """Return the number of decimals of U and E in a row."""
    return SCORE_DIGITS if row.own or board.digits is None else board.digits


def mark_up_symbols(text: str) -> Markup:
    """Return the text as HTML, with symbols such as ``s_j`` set as in formulas."""
    return Markup(  # noqa: S704  # escaped before
        re.sub(r"\b([a-z])_([a-z])\b", r"<i>\1<sub>\2</sub></i>", str(escape(text)))
    )
