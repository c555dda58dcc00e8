"""Routes of the feature."""

from fastapi import APIRouter

from app.targets import api, pages

API: tuple[APIRouter, ...] = (api.router, api.guess_router)
PAGES: tuple[APIRouter, ...] = (pages.router,)
