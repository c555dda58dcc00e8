"""What the feature adds to the application."""

from app.clarifications import api, clarifications, pages
from app.core.features import Duty, Feature, OverviewPart

FEATURE = Feature(
    api=(api.router,),
    pages=(pages.router,),
    tags={"clarifications": "Questions of teams to the organizers, and their answers."},
    organizer_pages=("clarifications",),
    overview=OverviewPart("clarifications/overview.html", clarifications.summarize),
    duty=Duty("questions", "clarifications", clarifications.count_unanswered),
)
