"""Routes of the feature."""

from fastapi import APIRouter

from app.originals import allocation_api

API: tuple[APIRouter, ...] = (allocation_api.router,)
PAGES: tuple[APIRouter, ...] = ()
