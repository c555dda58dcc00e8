"""The monthly track of PWS Cup 2017: customers get a pseudonym per month, attackers know part of the data.

M is the table of customers, T that of their transactions, AT the anonymized transactions, and F the answer:
the pseudonym of every customer in every month.
"""

from __future__ import annotations  # the numeric types are imported for type checkers only

from functools import partial, wraps
from importlib import resources
from typing import TYPE_CHECKING, TypeAlias

from anoncup.lazy import lazy_in
from anoncup.messages import N_
from anoncup.rules.parameters import Parameter
from anoncup.tracks.capabilities import Allocation, Examples
from anoncup.tracks.model import AnswerSpec, Question, TargetFiles, Track
from anoncup.tracks.monthly.files import (
    ANSWER_SPEC,
    CUSTOMERS_SPEC,
    GUESS_SPEC,
    KNOWLEDGE_PURPOSE,
    KNOWLEDGE_SPECS,
    QUESTIONS,
    RELEASE_SPEC,
    TARGET_SPEC,
    TRANSACTIONS_SPEC,
)
from anoncup.tracks.parts import Attacker, Measure, Method, ScoredRelease

if TYPE_CHECKING:
    from anoncup.tracks.monthly.answer import PseudonymTable
    from anoncup.tracks.monthly.attackers import MonthlyTarget
    from anoncup.tracks.monthly.original import MonthlyOriginal
    from anoncup.tracks.monthly.release import MonthlyRelease

    ScoredMonthly: TypeAlias = ScoredRelease[MonthlyRelease, MonthlyTarget, PseudonymTable]

_lazy = lazy_in(__name__)

_ATTACKER_COLUMNS = {
    "date_quantity": ("date", "quantity"),
    "good_price": ("good", "price"),
    "good_quantity": ("good", "quantity"),
    "date_good": ("date", "good"),
    "good_price_quantity": ("good", "price", "quantity"),
    "good_date_quantity": ("good", "date", "quantity"),
}
"""The columns that each attacker compares; goods are compared by their first two characters."""
_ROW_ORDER_MEASURES = {"date_shift", "price_ratio"}
"""Measures that compare each kept row with its row of T, and therefore need the rows in T's order."""
_EXACT_MEASURES = {"top_goods", "date_shift", "deleted"}
"""Measures that are made of counts of goods, days and rows."""
_TC400_DIGESTS = {
    CUSTOMERS_SPEC.name: "ed62a9c7fc3ecf49310c75de2eceef28f9550a8fe772397ca007bf72443701dd",
    TRANSACTIONS_SPEC.name: "75c5aa2811b0661d155a7a8e646ad89ed727f8004e6bcac756c0bc042b815de2",
}
"""SHA-256 of the first twelve months of TC400, as ``anoncup generate --track monthly`` writes them."""


def _make_measure(name: str) -> Measure[MonthlyOriginal, ScoredMonthly]:
    """Return a measure of a release, in [0, 1], 0 best; the scale is 1."""
    compute = _lazy(f"measures.{name}")
    return Measure(
        name,
        version=2 if name == "top_goods" else 1,
        compute=wraps(compute)(lambda scored: compute(scored.release)),
        is_exact=name in _EXACT_MEASURES,
        weighs=True,
        reads_secret=name in _ROW_ORDER_MEASURES,
        scale=1.0,
    )


def _make_attacker(name: str, columns: tuple[str, ...]) -> Attacker[MonthlyTarget, dict[str, PseudonymTable]]:
    """Return an attacker that compares these columns and answers all questions."""
    attack = partial(_lazy("attackers.attack"), columns=columns)
    return Attacker(name, version=2, attack=attack, question=tuple(QUESTIONS))


def _make_question(name: str) -> Question[MonthlyOriginal, MonthlyRelease, PseudonymTable, PseudonymTable]:
    return Question(
        name=name,
        file=GUESS_SPEC,
        read=_lazy("answer.read_guess"),
        write=_lazy("answer.write_pseudonyms"),
        count_answered=_lazy("answer.count_answered"),
        judge=_lazy("answer.judge_guess"),
        make_perfect_guess=lambda answer: answer,
        asks_identity=True,
    )


MONTHLY: Track[MonthlyOriginal, MonthlyRelease, MonthlyTarget, PseudonymTable] = Track(
    name="monthly",
    release_files=(RELEASE_SPEC,),
    original_files=(CUSTOMERS_SPEC, TRANSACTIONS_SPEC, *KNOWLEDGE_SPECS),
    check_first_file=lambda files, _: _lazy("original.check_customers")(files),
    parse_original=_lazy("adapter.parse_original"),
    parse_release=_lazy("adapter.parse_release"),
    files_of=_lazy("adapter.files_of"),
    count_individuals=lambda release: release.rows,
    build_frames=_lazy("adapter.build_frames"),
    answer_spec=AnswerSpec(
        file=ANSWER_SPEC,
        read=_lazy("answer.read_answer"),
        write=_lazy("answer.write_pseudonyms"),
        check=_lazy("answer.check_answer"),
        reads_without_release=True,
    ),
    questions={name: _make_question(name) for name in QUESTIONS},
    attack_view=_lazy("adapter.view_release"),
    measures={
        name: _make_measure(name)
        for name in (
            "itemcf_levels",
            "itemcf_small",
            "top_goods",
            "top_cf",
            "date_shift",
            "price_ratio",
            "deleted",
        )
    },
    attackers={name: _make_attacker(name, columns) for name, columns in _ATTACKER_COLUMNS.items()},
    methods={
        "pseudonyms": Method("pseudonyms", _lazy("methods.pseudonyms")),
        "delete_purchases": Method(
            "delete_purchases", _lazy("methods.delete_purchases"), (Parameter("share", "share", default=0.1),)
        ),
        "noisy_purchases": Method(
            "noisy_purchases",
            _lazy("methods.noisy_purchases"),
            (Parameter("days", "whole", default=3), Parameter("strength", "amount", default=0.05)),
        ),
    },
    anonymize=_lazy("adapter.anonymize"),
    utility="largest",
    security="mean",
    title=N_("monthly pseudonyms"),
    individual=N_("customer"),
    examples=Examples(
        templates={"2017": resources.files(__name__) / "2017.toml"},
        method="delete_purchases",
        make_data=lambda _, rows, seed: _lazy("example.make_example_data")(rows, seed),
        known_datasets={"tc400": _TC400_DIGESTS},
    ),
    target_files=TargetFiles(
        specs=(TARGET_SPEC,),
        write=_lazy("adapter.write_target_files"),
        parse=_lazy("adapter.parse_target"),
        seals_release=True,
    ),
    allocation=Allocation(
        files=KNOWLEDGE_SPECS,
        per_team=False,
        make_files=_lazy("adapter.make_knowledge_files"),
        purposes=(KNOWLEDGE_PURPOSE,),
    ),
)
