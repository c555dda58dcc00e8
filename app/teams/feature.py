"""What the feature adds to the application."""

from app.core.features import Feature
from app.teams import api, sign_up_pages

FEATURE = Feature(
    api=(api.router, api.team_router),
    pages=(sign_up_pages.router,),
    tags={
        "teams": "Teams and their members.",
        "organizers": "Organizers of a competition, its audit log and its queue.",
    },
)
