"""Routes of the feature."""

from fastapi import APIRouter

from app.teams import account_api, api, sign_up_pages

API: tuple[APIRouter, ...] = (api.router, account_api.router)
PAGES: tuple[APIRouter, ...] = (sign_up_pages.router,)
