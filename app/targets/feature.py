"""What the feature adds to the application."""

from app.core.features import Feature
from app.targets import api, pages

FEATURE = Feature(
    api=(api.router, api.guess_router),
    pages=(pages.router,),
    tags={
        "targets": "Targets of the second phase, and the secrets that are revealed at its end.",
        "guesses": "Guesses about targets.",
    },
)
