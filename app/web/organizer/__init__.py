"""Pages of who runs a contest: its set-up, and all that is done while it goes on."""

from app.web.organizer import (
    announcements,
    baselines,
    clarifications,
    dashboard,
    measures,
    original,
    oversight,
    phases,
    publication,
    rescores,
    rulings,
    setup,
    submissions,
    teams,
    threshold,
    whole_file,
)

ROUTERS = (
    setup.router,
    original.router,
    measures.router,
    threshold.router,
    publication.router,
    whole_file.router,
    dashboard.router,
    phases.router,
    submissions.router,
    rescores.router,
    teams.router,
    rulings.router,
    baselines.router,
    announcements.router,
    clarifications.router,
    oversight.router,
)
