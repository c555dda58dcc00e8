"""Labels: English texts that are looked up by name at run time."""

from app.web.site.labels import contest, organizing, parts, refusals

LABELS = contest.LABELS | organizing.LABELS | parts.LABELS | refusals.LABELS
