"""Valid competition files for tests to modify, and helpers that expect a refusal."""

import pytest

from anoncup.competition.parser import parse_competition
from anoncup.errors import InvalidCompetition

MINIMAL = """
format = 1
slug = "demo"
title = "Demo cup"
track = "microdata"
timezone = "Asia/Tokyo"
[columns]
quasi_identifiers = ["a", "b"]
sensitive = ["x", "y"]
"""

EXAMPLE = """
format = 1
slug = "demo"
title = { en = "Demo cup", ja = "デモ杯" }
track = "microdata"                      # or "transactions"
timezone = "Asia/Tokyo"

[columns]                                # microdata: every column of the original, in order
quasi_identifiers = ["SetaiJinin", "Kouzou"]
sensitive = ["Youto037", "Youto117"]

# Every measure and attacker of the track runs and is reported; a table here sets its parameters,
# whether it weighs in U (weight), and whether it counts in E (counts; default true).
[measures.mean_mae]
weight = 1.0
[measures.cross_mean]
weight = 1.0
columns = ["SetaiJinin"]
target = ["Youto037"]
[attackers.id_sa]
column = "Youto037"
[attackers.euc1]
give_up = "abstain"                      # or "own_row"
quasi_identifiers = ["Kouzou"]           # optional subset
counts = true
[scales]                                 # written by the service or by `anoncup scales`, then fixed
mean_mae = 12345.6

[excessive]
distance = "gower"                       # jaccard, jaccard_quantity, euclidean
approach = "II"                          # or "I"
rule = "average"                         # or "strict"
threshold = 0.2

[ranking]
rule = "score"                           # or "rank_sum"
finals = 2

[publication]
board = "public"                         # teams, organizers
frozen_from = 2027-02-06T09:00:00+09:00  # optional
feedback = "hidden"                      # on guesses: hidden, immediate, daily
shuffle_targets = false
reveal_notice_hours = 48                 # default 24

[limits]
min_rows_kept = 0.5
valid_per_day = 10
valid_total = 100
attempts_per_day = 50
attempts_total = 500
guesses_per_target = 3
file_mb = 64

[[phases]]
name = "anonymization"
start = 2027-01-10T09:00:00+09:00
end = 2027-01-24T09:00:00+09:00
"""

PHASE = '[[phases]]\nname = "{}"\nstart = {}\nend = {}\n'


def add_phases(*windows: tuple[str, str, str]) -> str:
    return MINIMAL + "".join(PHASE.format(*window) for window in windows)


def expect_refusal(text: str) -> InvalidCompetition:
    with pytest.raises(InvalidCompetition) as excinfo:
        parse_competition(text)
    assert 0 < len(str(excinfo.value)) < 500
    return excinfo.value


def expect_refusal_code(text: str) -> str:
    return expect_refusal(text).code
