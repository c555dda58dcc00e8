"""Pages of who takes part: what a team sends, what came of it, and what it attacks."""

from app.web.team import guesses, members, submission, submissions, targets

ROUTERS = (
    submission.router,
    submissions.router,
    targets.router,
    guesses.router,
    members.router,
)
