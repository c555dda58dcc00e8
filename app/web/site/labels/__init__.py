"""Texts that are chosen by a name at run time: literals of name and English."""

from app.web.site.labels import contest, membership, monthly, organizing, parts, refusals

LABELS = (
    contest.LABELS | organizing.LABELS | parts.LABELS | monthly.LABELS | membership.LABELS | refusals.LABELS
)
