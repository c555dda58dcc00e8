"""How numbers, times and symbols are shown to people; ``Words.written`` puts in a language's own signs."""

import re
from datetime import datetime
from math import floor, log10
from zoneinfo import ZoneInfo

from markupsafe import Markup, escape

from anoncup.schemas import Board, BoardRow
from app.charts.axes import number


def numeral(value: float | None) -> str:
    """Return a number for people; full precision is in JSON and CSV."""
    if value is not None and 0 < abs(value) < 1e-9:
        return "≈0"  # rounding, which the scores take for 0 too
    return number(value)


def clock_time(moment: datetime, zone: str) -> str:
    """The time on the competition's clock, with the zone's name beside it."""
    return moment.astimezone(ZoneInfo(zone)).strftime("%Y-%m-%d %H:%M:%S %Z")


def clock_minute(moment: datetime, zone: str, seconds: bool = False) -> str:
    """The minute on the competition's clock, in a column that names the zone once, of a contest of days."""
    return moment.astimezone(ZoneInfo(zone)).strftime("%m-%d %H:%M:%S" if seconds else "%m-%d %H:%M")


def zone_name(moment: datetime, zone: str) -> str:
    """The zone's name as it is written then."""
    return moment.astimezone(ZoneInfo(zone)).strftime("%Z")


def percent(share: float) -> str:
    """A share in [0, 1] as a percentage: whole ones, below ten with a decimal, below one two digits.

    What is not zero is never 0%, and what is not all is never 100%.
    """
    number = 100 * share
    digits = 0 if number >= 10 or number == 0 else max(1, 1 - floor(log10(number)))
    while number < 100 and round(number, digits) == 100:
        digits += 1
    text = f"{number:.{digits}f}"
    return (text.rstrip("0").rstrip(".") if digits else text) + "%"


SCORE_DIGITS = 4


def score(number: float | None, digits: int = SCORE_DIGITS) -> str:
    """A score or rate in [0, 1] with so many decimals, so that they align."""
    return "–" if number is None else f"{number:.{digits}f}"


def digits_of(board: Board, row: BoardRow) -> int:
    """The decimals that U and E of a row have."""
    return SCORE_DIGITS if row.own or board.digits is None else board.digits


def indexed(text: str) -> Markup:
    """The text with its symbols, such as ``s_j``, set as in the formulas."""
    return Markup(re.sub(r"\b([a-z])_([a-z])\b", r"<i>\1<sub>\2</sub></i>", str(escape(text))))  # noqa: S704  # escaped before
