"""Public pages, and the pages for signing up and signing in."""

from app.web.visitor import (
    account,
    board_history,
    board_matrix,
    board_reidentification,
    board_total,
    boards,
    calendar,
    clarifications,
    competitions,
    email_addresses,
    overview,
    provider_sign_in,
    rules,
    sign_in,
    sign_up,
    team_page,
)

ROUTERS = (
    competitions.router,
    overview.router,
    calendar.router,
    clarifications.router,
    rules.router,
    boards.router,
    board_history.router,
    team_page.router,
    board_matrix.router,
    board_reidentification.router,
    board_total.router,
    sign_in.router,
    provider_sign_in.router,
    sign_up.router,
    account.router,
    email_addresses.router,
)
