"""What the feature adds to the application."""

from app.announcements import announcements, api, pages
from app.core.features import Feature, OverviewPart

FEATURE = Feature(
    api=(api.router,),
    pages=(pages.router,),
    tags={"announcements": "Announcements of the organizers to everybody."},
    organizer_pages=("announcements",),
    overview=OverviewPart("announcements/overview.html", announcements.summarize),
)
