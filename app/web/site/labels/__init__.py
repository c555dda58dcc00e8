"""Texts that are chosen by a name at run time: literals of name and English."""

from app.web.site.labels import contest, organizing, parts, refusals

LABELS = contest.LABELS | organizing.LABELS | parts.LABELS | refusals.LABELS
