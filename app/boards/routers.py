"""Routes of the feature."""

from fastapi import APIRouter

from app.boards import (
    api,
    history_pages,
    matrix_pages,
    pages,
    reidentification_pages,
    team_pages,
    total_pages,
)

API: tuple[APIRouter, ...] = (api.router,)
PAGES: tuple[APIRouter, ...] = (
    history_pages.router,
    matrix_pages.router,
    pages.router,
    reidentification_pages.router,
    team_pages.router,
    total_pages.router,
)
