"""Organizer pages: setting up a contest and running it."""

from app.web.organizer import (
    announcements,
    audit_and_health,
    baselines,
    clarifications,
    dashboard,
    disqualification,
    file_editor,
    original,
    phases,
    publication,
    rescores,
    setup,
    submissions,
    teams,
    threshold,
)

ROUTERS = (
    setup.router,
    original.router,
    threshold.router,
    publication.router,
    file_editor.router,
    dashboard.router,
    phases.router,
    submissions.router,
    rescores.router,
    teams.router,
    disqualification.router,
    baselines.router,
    announcements.router,
    clarifications.router,
    audit_and_health.router,
)
