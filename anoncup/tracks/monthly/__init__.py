"""The track of PWS Cup 2017: a pseudonym for every customer and month, and attackers who know a part."""

from functools import partial
from importlib import resources

from anoncup.lazy import deferred_in
from anoncup.messages import N_
from anoncup.rules.parameters import Parameter
from anoncup.tracks.model import Answers, Draw, Question, Track
from anoncup.tracks.monthly.files import (
    ANSWER,
    ASKED,
    CUSTOMERS,
    KNOWLEDGE,
    KNOWN,
    PURCHASES,
    QUESTIONS,
    RELEASED,
    SHUFFLED,
)
from anoncup.tracks.parts import Attacker, Measure, Method

_by = deferred_in(__name__)

KEYS = {
    "date_quantity": ("date", "quantity"),
    "good_price": ("good", "price"),
    "good_quantity": ("good", "quantity"),
    "date_good": ("date", "good"),
    "good_price_quantity": ("good", "price", "quantity"),
    "good_date_quantity": ("good", "date", "quantity"),
}
"""The cells that each attacker compares, of a good its first two characters."""
ROW_BY_ROW = {"date_shift", "price_ratio"}
"""Measures of each kept row against T's: who has the kept rows in another order cannot tell them."""


TC400 = {
    CUSTOMERS.name: "ed62a9c7fc3ecf49310c75de2eceef28f9550a8fe772397ca007bf72443701dd",
    PURCHASES.name: "75c5aa2811b0661d155a7a8e646ad89ed727f8004e6bcac756c0bc042b815de2",
}
"""SHA-256 of its first twelve months as ``anoncup generate --track monthly`` writes them."""


def _measure(name: str) -> Measure:
    compute, version = _by(f"measures.{name}"), 2 if name == "top_goods" else 1
    return Measure(name, version, compute, weighs=True, reads_secret=name in ROW_BY_ROW, scale=1.0)


def _attacker(name: str, columns: tuple[str, ...]) -> Attacker:
    return Attacker(name, 2, partial(_by("attackers.attack"), columns=columns), question=tuple(QUESTIONS))


def _question(name: str) -> Question:
    return Question(
        name=name,
        file=ASKED,
        read=_by("answer.read_guess"),
        write=_by("answer.write"),
        answered=_by("answer.answered"),
        judge=_by("answer.judge_named"),
        perfect=lambda answer: answer,
        counts=True,
    )


MONTHLY = Track(
    name="monthly",
    roles=lambda *_: {},
    release=(RELEASED,),
    original=(CUSTOMERS, PURCHASES, *KNOWN),
    check_part=lambda files, _: _by("original.check_customers")(files),
    parse_original=_by("adapter.parse_original"),
    parse_release=_by("adapter.parse_release"),
    files_of=_by("adapter.files_of"),
    individuals=lambda tables: tables.rows,
    answers=Answers(
        file=ANSWER,
        read=_by("answer.read_answer"),
        write=_by("answer.write"),
        check=_by("answer.check"),
        read_alone=True,
    ),
    questions={name: _question(name) for name in QUESTIONS},
    prepare=lambda tables, _: tables,
    target_of=_by("attackers.target_of"),
    release_of=_by("adapter.release_of"),
    measures={
        name: _measure(name)
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
    attackers={name: _attacker(name, columns) for name, columns in KEYS.items()},
    methods={
        "pseudonyms": Method("pseudonyms", _by("methods.pseudonyms")),
        "delete_purchases": Method(
            "delete_purchases", _by("methods.delete_purchases"), (Parameter("share", "share", default=0.1),)
        ),
        "noisy_purchases": Method(
            "noisy_purchases",
            _by("methods.noisy_purchases"),
            (Parameter("days", "whole", default=3), Parameter("strength", "amount", default=0.05)),
        ),
    },
    anonymize=_by("adapter.anonymize"),
    utility="largest",
    rivals=_by("adapter.mean_of_largest"),
    title=N_("monthly pseudonyms"),
    individual=N_("customer"),
    example="delete_purchases",
    frames=_by("adapter.frames"),
    shipped={"tc400": TC400},
    published=_by("adapter.published"),
    targets=(SHUFFLED,),
    parse_target=_by("adapter.parse_target"),
    seals_release=True,
    draw=Draw(files=KNOWN, each_team=False, make=_by("adapter.make_knowledge"), purposes=(KNOWLEDGE,)),
    templates={"2017": resources.files(__name__) / "2017.toml"},
    example_data=_by("example.example_data"),
)
