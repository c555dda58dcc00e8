"""Routes of the feature."""

from fastapi import APIRouter

from app.clarifications import api, organizer_pages, pages

API: tuple[APIRouter, ...] = (api.router,)
PAGES: tuple[APIRouter, ...] = (organizer_pages.router, pages.router)
