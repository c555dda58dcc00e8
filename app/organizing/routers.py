"""Routes of the feature."""

from fastapi import APIRouter

from app.organizing import (
    api,
    baseline_pages,
    disqualification_pages,
    pages,
    phase_pages,
    submission_pages,
    team_pages,
)

API: tuple[APIRouter, ...] = (api.router, api.baseline_router, api.log_router)
PAGES: tuple[APIRouter, ...] = (
    baseline_pages.router,
    disqualification_pages.router,
    pages.router,
    phase_pages.router,
    submission_pages.router,
    team_pages.router,
)
