"""Routes of the feature."""

from fastapi import APIRouter

from app.accounts import account_pages, api, email_pages, provider_pages, sign_in_pages

API: tuple[APIRouter, ...] = (api.router,)
PAGES: tuple[APIRouter, ...] = (
    account_pages.router,
    email_pages.router,
    provider_pages.router,
    sign_in_pages.router,
)
