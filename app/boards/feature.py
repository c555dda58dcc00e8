"""What the feature adds to the application."""

from app.boards import api, pages, team_pages
from app.core.features import Feature

FEATURE = Feature(
    api=(api.router,),
    pages=(pages.router, team_pages.router),
    tags={"boards": "Ranks and scores; each board as JSON and as CSV."},
)
