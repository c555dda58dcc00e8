"""Routes of the feature."""

from fastapi import APIRouter

from app.clarifications import api, pages

API: tuple[APIRouter, ...] = (api.router,)
PAGES: tuple[APIRouter, ...] = (pages.router,)
