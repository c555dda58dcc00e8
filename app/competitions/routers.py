"""Routes of the feature."""

from fastapi import APIRouter

from app.competitions import calendar_pages, rules_pages

API: tuple[APIRouter, ...] = ()
PAGES: tuple[APIRouter, ...] = (calendar_pages.router, rules_pages.router)
