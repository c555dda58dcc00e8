"""Routes of the feature."""

from fastapi import APIRouter

from app.targets import api, guess_api, pages

API: tuple[APIRouter, ...] = (api.router, guess_api.router)
PAGES: tuple[APIRouter, ...] = (pages.router,)
