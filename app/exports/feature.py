"""What the feature adds to the application."""

from app.core.features import Feature
from app.exports import api

FEATURE = Feature(
    api=(api.router,),
    organizer_pages=("exports",),
)
