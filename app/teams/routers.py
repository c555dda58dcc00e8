"""Routes of the feature."""

from fastapi import APIRouter

from app.teams import api, sign_up_pages

API: tuple[APIRouter, ...] = (api.router, api.team_router)
PAGES: tuple[APIRouter, ...] = (sign_up_pages.router,)
