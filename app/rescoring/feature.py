"""What the feature adds to the application."""

from app.core.features import Feature
from app.rescoring import api, pages

FEATURE = Feature(
    api=(api.router,),
    pages=(pages.router,),
    tags={
        "re-scoring": "Scoring all submissions under other rules: preview the changes, apply or cancel them."
    },
    organizer_pages=("rescores",),
)
