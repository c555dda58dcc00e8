"""Routes of the feature."""

from fastapi import APIRouter

from app.exports import api

API: tuple[APIRouter, ...] = (api.router,)
PAGES: tuple[APIRouter, ...] = ()
