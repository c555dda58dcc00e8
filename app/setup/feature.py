"""What the feature adds to the application."""

from app.core.features import Feature
from app.setup import api, file_pages, original_pages, pages, threshold_pages

FEATURE = Feature(
    api=(api.router, api.report_router),
    pages=(file_pages.router, original_pages.router, pages.router, threshold_pages.router),
    tags={
        "competitions": "Competitions: their files, phases and original data.",
        "threshold reports": "Advice on the threshold of the rule against excessive anonymization.",
    },
)
