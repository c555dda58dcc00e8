"""What the feature adds to the application."""

from app.competitions import calendar_pages, rules_pages
from app.core.features import Feature

FEATURE = Feature(pages=(calendar_pages.router, rules_pages.router))
