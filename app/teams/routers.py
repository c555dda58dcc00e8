"""Routes of the feature."""

from fastapi import APIRouter

from app.teams import api, sign_up_api, sign_up_pages, users_api

API: tuple[APIRouter, ...] = (api.router, sign_up_api.router, users_api.router)
PAGES: tuple[APIRouter, ...] = (sign_up_pages.router,)
