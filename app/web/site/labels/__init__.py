"""Labels: English texts that are looked up by name at run time."""

from app.web.site.labels import contest, membership, monthly, organizing, parts, refusals

LABELS = (
    contest.LABELS | organizing.LABELS | parts.LABELS | monthly.LABELS | membership.LABELS | refusals.LABELS
)
