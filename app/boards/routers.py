"""Routes of the feature."""

from fastapi import APIRouter

from app.boards import api, pages, team_pages

API: tuple[APIRouter, ...] = (api.router,)
PAGES: tuple[APIRouter, ...] = (pages.router, team_pages.router)
