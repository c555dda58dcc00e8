"""Routes of the feature."""

from fastapi import APIRouter

from app.setup import (
    api,
    file_pages,
    original_pages,
    pages,
    threshold_pages,
)

API: tuple[APIRouter, ...] = (api.router, api.report_router)
PAGES: tuple[APIRouter, ...] = (
    file_pages.router,
    original_pages.router,
    pages.router,
    threshold_pages.router,
)
