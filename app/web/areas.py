"""The areas of pages, each a module with a ``router``."""

from app.web import (
    account,
    boards,
    competition,
    front,
    guessing,
    joining,
    rules,
    sign_in,
    submission,
    submissions,
    targets,
    team,
)
from app.web.organize import (
    announcements,
    comparisons,
    dashboard,
    entrants,
    entries,
    measuring,
    original,
    oversight,
    phases,
    publishing,
    rescores,
    rulings,
    setup,
    threshold,
    whole_file,
)

READING = (front, competition, rules, boards, submission)
TAKING_PART = (sign_in, joining, account, team, submissions, targets, guessing)
SETTING_UP = (setup, original, measuring, threshold, publishing, whole_file)
RUNNING = (dashboard, phases, entries, rescores, entrants, rulings, comparisons, announcements, oversight)
AREAS = (*READING, *TAKING_PART, *SETTING_UP, *RUNNING)
