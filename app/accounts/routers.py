"""Routes of the feature."""

from fastapi import APIRouter

from app.accounts import account_pages, api, sign_in_pages

API: tuple[APIRouter, ...] = (api.router,)
PAGES: tuple[APIRouter, ...] = (account_pages.router, account_pages.mail_router, sign_in_pages.router)
