"""What the feature adds to the application."""

from app.core.features import Feature
from app.organizing import api, baseline_pages, pages, phase_pages, submission_pages, team_pages

FEATURE = Feature(
    api=(api.router, api.baseline_router, api.log_router),
    pages=(
        baseline_pages.router,
        pages.router,
        phase_pages.router,
        submission_pages.router,
        team_pages.router,
    ),
    tags={
        "organizing": "Organizing a running contest: phases, quotas, disqualification.",
        "baselines": "Releases that organizers add to the board for comparison.",
    },
    organizer_pages=("phases", "submissions", "teams", "baselines", "audit", "health"),
)
