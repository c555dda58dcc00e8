"""Routes of the feature."""

from fastapi import APIRouter

from app.organizing import (
    api,
    baseline_api,
    baseline_pages,
    dashboard_pages,
    disqualification_pages,
    health_api,
    health_pages,
    phase_pages,
    submission_pages,
    team_pages,
)

API: tuple[APIRouter, ...] = (api.router, baseline_api.router, health_api.router)
PAGES: tuple[APIRouter, ...] = (
    baseline_pages.router,
    dashboard_pages.router,
    disqualification_pages.router,
    health_pages.router,
    phase_pages.router,
    submission_pages.router,
    team_pages.router,
)
