"""The ranking of attacks of the cups of 2024 and 2025, by what a team found in the best defenders."""

from functools import partial

from anoncup.tracks.plugin import Plugin
from anoncup.tracks.ranking_board import RankingFunction
from anoncup_cup2024.best_defenders import rank_attacks

PLUGIN = Plugin(
    api=0,
    ranking_functions={
        "five_best_defenders": RankingFunction("five_best_defenders", 1, partial(rank_attacks, count=5)),
        "ten_best_defenders": RankingFunction("ten_best_defenders", 1, partial(rank_attacks, count=10)),
    },
)
