"""What the feature adds to the application."""

from app.core.features import Feature
from app.overview import list_pages, member_pages, pages, submission_pages

FEATURE = Feature(
    pages=(list_pages.router, member_pages.router, pages.router, submission_pages.router),
)
