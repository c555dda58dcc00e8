"""Routes of the feature."""

from fastapi import APIRouter

from app.overview import list_pages, member_pages, pages, submission_pages

API: tuple[APIRouter, ...] = ()
PAGES: tuple[APIRouter, ...] = (list_pages.router, member_pages.router, pages.router, submission_pages.router)
