"""Public pages, and the pages for signing up and signing in."""

from app.web.visitor import (
    account,
    board_matrix,
    board_reidentification,
    board_total,
    boards,
    clarifications,
    competitions,
    embed,
    feeds,
    overview,
    preview,
    replay,
    rules,
    sign_in,
    sign_up,
    team_page,
)

ROUTERS = (
    competitions.router,
    overview.router,
    feeds.router,
    preview.router,
    embed.router,
    clarifications.router,
    rules.router,
    boards.router,
    replay.router,
    team_page.router,
    board_matrix.router,
    board_reidentification.router,
    board_total.router,
    sign_in.router,
    sign_up.router,
    account.router,
)
