"""Pages that ask for no part in a contest: what everybody reads, and the ways in."""

from app.web.visitor import (
    account,
    board_matrix,
    board_reidentification,
    boards,
    clarifications,
    competitions,
    embed,
    feeds,
    joining,
    overview,
    preview,
    replay,
    rules,
    sign_in,
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
    sign_in.router,
    joining.router,
    account.router,
)
