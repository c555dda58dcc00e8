"""What the feature adds to the application."""

from app.core.features import Feature
from app.submissions import api, pages

FEATURE = Feature(
    api=(api.router,),
    pages=(pages.router,),
    tags={"submissions": "Releases of the first phase: submit them, follow their scoring, choose finals."},
)
