"""Pages of a team: its submissions, results, targets, guesses and members."""

from app.web.team import guesses, members, submission, submissions, targets

ROUTERS = (
    submission.router,
    submissions.router,
    targets.router,
    guesses.router,
    members.router,
)
