"""The pages with which a competition is run."""

from app.web.organize import (
    announcements,
    comparisons,
    dashboard,
    entrants,
    entries,
    oversight,
    phases,
    rescores,
)

RUNNING = (dashboard, phases, entries, rescores, entrants, comparisons, announcements, oversight)
