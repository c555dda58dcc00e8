"""The transactions track once more: slow loops over lists, written from the formulas, with exact fractions.

Every function takes plain lists: the customers (id, sex, birthday, country) and the records (customer,
receipt, date, time, goods, price, quantity) of both tables. Guesses count from 0; -1 abstains.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from datetime import date
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations, permutations
from math import floor, sqrt
from typing import NamedTuple

from tests.scoring.reference import Guess, as_float, average

TIE = Fraction(1, 10**12)
ABSTAIN = -1
Basket = dict[str, int]
Key = tuple[Hashable, ...]
Similarity = Callable[[Basket, Basket], Fraction]


class Customer(NamedTuple):
    name: str
    sex: str
    birthday: str
    country: str


class Record(NamedTuple):
    customer: str
    receipt: str
    date: str
    time: str
    goods: str
    price: float
    quantity: int


class Side(NamedTuple):
    """M and T, or M' and T'."""

    customers: list[Customer]
    records: list[Record]


def rows_of(side: Side) -> list[list[Record]]:
    """The records of every customer, in the order of the customers."""
    return [[r for r in side.records if r.customer == c.name] for c in side.customers]


def baskets(side: Side) -> list[Basket]:
    """q_u of every customer: the total quantity of each good, without goods never bought."""
    found = []
    for rows in rows_of(side):
        basket: Basket = {}
        for record in rows:
            basket[record.goods] = basket.get(record.goods, 0) + record.quantity
        found.append(basket)
    return found


def spend(rows: Sequence[Record]) -> Fraction:
    return sum((Fraction(r.price) * r.quantity for r in rows), Fraction(0))


def are_tied(a: Fraction, b: Fraction) -> bool:
    return abs(a - b) <= TIE * max(abs(a), abs(b))


def highest(scores: Sequence[Fraction]) -> int:
    """The first row whose score is, up to a tie, the largest of all."""
    largest = max(scores)
    return next(row for row, score in enumerate(scores) if are_tied(score, largest))


# Utility.


def cross_table(side: Side, amount: Callable[[list[Record]], Fraction]) -> dict[Key, Fraction]:
    """The mean amount of the customers of each sex and country who have rows."""
    cells: dict[Key, list[Fraction]] = {}
    for customer, rows in zip(side.customers, rows_of(side), strict=True):
        if rows:
            cells.setdefault((customer.sex, customer.country), []).append(amount(rows))
    return {cell: average(amounts) for cell, amounts in cells.items()}


def cmae(original: Side, release: Side, amount: Callable[[list[Record]], Fraction]) -> float:
    before, after = cross_table(original, amount), cross_table(release, amount)
    nothing, people = Fraction(0), original.customers + release.customers
    cells = [(sex, country) for sex in {c.sex for c in people} for country in {c.country for c in people}]
    gaps = [abs(before.get(cell, nothing) - after.get(cell, nothing)) for cell in cells]
    return as_float(average(gaps))


def mean_price(rows: list[Record]) -> Fraction:
    return average([Fraction(r.price) for r in rows])


def cmae_price(original: Side, release: Side) -> float:
    return cmae(original, release, mean_price)


def cmae_spend(original: Side, release: Side) -> float:
    return cmae(original, release, spend)


def day(text: str) -> int:
    return date.fromisoformat(text).toordinal()


def recency_frequency_money(side: Side, last_day: int) -> list[list[Fraction]]:
    """R, F and M of every customer who has rows."""
    return [
        [
            Fraction(last_day - max(day(r.date) for r in rows)),
            Fraction(len({r.receipt for r in rows})),
            spend(rows),
        ]
        for rows in rows_of(side)
        if rows
    ]


def decile(values: Sequence[Fraction], k: int) -> Fraction:
    ordered, position = sorted(values), Fraction((len(values) - 1) * k, 10)
    low = floor(position)
    high = min(low + 1, len(values) - 1)
    return ordered[low] + (position - low) * (ordered[high] - ordered[low])


def is_above(value: Fraction, threshold: Fraction) -> bool:
    return value > threshold and not are_tied(value, threshold)


def rfm_cell(measured: Sequence[Fraction], deciles: list[list[Fraction]]) -> Key:
    return tuple(
        sum(is_above(value, threshold) for threshold in thresholds)
        for value, thresholds in zip(measured, deciles, strict=True)
    )


def rfm(original: Side, release: Side) -> float:
    last_day = max(day(r.date) for r in original.records)
    before = recency_frequency_money(original, last_day)
    after = recency_frequency_money(release, last_day)
    deciles = [[decile([one[c] for one in before], k) for k in range(1, 10)] for c in range(3)]
    cells_before = [rfm_cell(one, deciles) for one in before]
    cells_after = [rfm_cell(one, deciles) for one in after]
    cells = set(cells_before) | set(cells_after)
    return float(Fraction(sum(abs(cells_before.count(c) - cells_after.count(c)) for c in cells), 1000))


def row_difference(original: Side, release: Side) -> float:
    return abs(signed_row_difference(original, release))


def signed_row_difference(original: Side, release: Side) -> float:
    return float(len(release.records) - len(original.records))


def buyers(side: Side) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for number, basket in enumerate(baskets(side)):
        for goods in basket:
            found.setdefault(goods, set()).add(number)
    return found


def pair_cosine(bought: dict[str, set[int]], g: str, h: str) -> float:
    of_g, of_h = bought.get(g, set()), bought.get(h, set())
    return len(of_g & of_h) / sqrt(len(of_g) * len(of_h)) if of_g and of_h else 0.0


def goods_cosine(original: Side, release: Side) -> float:
    before, after = buyers(original), buyers(release)
    pairs = [(g, h) for g, h in combinations(sorted(before), 2) if before[g] & before[h]]
    if not pairs:
        return 0.0
    moved = sum(abs(pair_cosine(before, g, h) - pair_cosine(after, g, h)) for g, h in pairs)
    return min(moved / sum(pair_cosine(before, g, h) for g, h in pairs), 1.0)


def most_bought(side: Side) -> list[str]:
    bought = buyers(side)
    return sorted(bought, key=lambda goods: (-len(bought[goods]), goods))[:100]


def top_goods(original: Side, release: Side) -> float:
    before, after = most_bought(original), most_bought(release)
    return len([goods for goods in before if goods not in after]) / len(before)


# Anonymity.


def class_sizes(keys: Sequence[Hashable]) -> list[int]:
    return [sum(other == key for other in keys) for key in set(keys)]


def master_keys(side: Side) -> list[Key]:
    return [(c.sex, c.birthday, c.country) for c in side.customers]


def goods_sets(side: Side) -> list[frozenset[str]]:
    return [frozenset(basket) for basket in baskets(side)]


def k_min(keys: Sequence[Hashable]) -> float:
    """Of ``master_keys``, or of ``goods_sets`` for the baskets' k."""
    return float(min(class_sizes(keys)))


def k_mean(keys: Sequence[Hashable]) -> float:
    return len(keys) / len(class_sizes(keys))


def random_in_cluster_rate(release: Side) -> float:
    return len(set(goods_sets(release))) / len(release.customers)


# Similarities and distances.


def set_similarity(a: Basket, b: Basket) -> Fraction:
    either = set(a) | set(b)
    return Fraction(len(set(a) & set(b)), len(either)) if either else Fraction(1)


def quantity_similarity(a: Basket, b: Basket) -> Fraction:
    either = set(a) | set(b)
    shared = sum(min(a.get(g, 0), b.get(g, 0)) for g in either)
    return Fraction(shared, sum(max(a.get(g, 0), b.get(g, 0)) for g in either)) if either else Fraction(1)


def distances(original: Side, release: Side, source: Sequence[int], similarity: Similarity) -> list[float]:
    """How far every individual of the original has moved; 1 if deleted."""
    before, after, found = baskets(original), baskets(release), []
    for i, basket in enumerate(before):
        places = [j for j, row in enumerate(source) if row == i]
        found.append(float(1 - similarity(basket, after[places[0]])) if places else 1.0)
    return found


def distance_matrix(original: Side, similarity: Similarity) -> list[list[float]]:
    every = baskets(original)
    return [[float(1 - similarity(a, b)) for b in every] for a in every]


# Attackers.


def most_similar(original: Side, release: Side, similarity: Similarity) -> Guess:
    known = baskets(original)
    return [
        highest([similarity(basket, other) for other in known]) if basket else ABSTAIN
        for basket in baskets(release)
    ]


def jaccard(original: Side, release: Side) -> Guess:
    return most_similar(original, release, set_similarity)


def jaccard_quantity(original: Side, release: Side) -> Guess:
    return most_similar(original, release, quantity_similarity)


def goods_weights(original: Side) -> dict[str, Decimal]:
    """ln(n / number of buyers) + 1 of every good of the original."""
    n = len(original.customers)
    return {g: (Decimal(n) / len(who)).ln() + 1 for g, who in buyers(original).items()}


def characteristics(basket: Basket, weights: dict[str, Decimal]) -> dict[str, Decimal]:
    """The weights f'_ij, where f_ij is 1 for the goods of the basket: Algorithm 3 of P3."""
    return {g: weights[g] / len(basket) for g in basket if g in weights}


def cosine(a: dict[str, Decimal], b: dict[str, Decimal]) -> Fraction:
    inner = sum((a[g] * b[g] for g in a if g in b), Decimal(0))
    lengths = [sum((w * w for w in vector.values()), Decimal(0)).sqrt() for vector in (a, b)]
    return Fraction(inner / (lengths[0] * lengths[1])) if inner else Fraction(0)


def tfidf(original: Side, release: Side) -> Guess:
    with localcontext() as context:
        context.prec = 50
        weights = goods_weights(original)
        known = [characteristics(basket, weights) for basket in baskets(original)]
        asked = [characteristics(basket, weights) for basket in baskets(release)]
        return [highest([cosine(one, other) for other in known]) if one else ABSTAIN for one in asked]


def master_match(original: Side, release: Side) -> Guess:
    keys, known, guess = master_keys(original), baskets(original), []
    for key, basket in zip(master_keys(release), baskets(release), strict=True):
        among = [i for i, other in enumerate(keys) if other == key]
        scores = [set_similarity(basket, known[i]) for i in among]
        guess.append(among[highest(scores)] if among else ABSTAIN)
    return guess


def elected(votes: list[Fraction]) -> int:
    return highest(votes) if any(votes) else ABSTAIN


def receipt_match(original: Side, release: Side) -> Guess:
    known = [{r.receipt for r in rows} for rows in rows_of(original)]
    guess = []
    for rows in rows_of(release):
        asked = {r.receipt for r in rows}
        guess.append(elected([Fraction(len(asked & receipts)) for receipts in known]))
    return guess


def own_row(original: Side, release: Side) -> Guess:
    return list(range(len(release.customers)))


def order_of(values: Sequence[Fraction]) -> list[int]:
    """Rows by value; neighbours that are tied form one run, which stands by row."""
    runs: list[list[int]] = []
    for row in sorted(range(len(values)), key=lambda row: values[row]):
        if runs and are_tied(values[runs[-1][-1]], values[row]):
            runs[-1].append(row)
        else:
            runs.append([row])
    return [row for run in runs for row in sorted(run)]


def sort_spend(original: Side, release: Side) -> Guess:
    guess = [ABSTAIN] * len(release.customers)
    before = order_of([spend(rows) for rows in rows_of(original)])
    after = order_of([spend(rows) for rows in rows_of(release)])
    for j, i in zip(after, before, strict=False):
        guess[j] = i
    return guess


def record_keys_of(rows: Sequence[Record]) -> set[Key]:
    """The distinct keys of every kind of a customer's records; the first part tells the kind."""
    found: set[Key] = set()
    for r in rows:
        found |= {
            (1, r.date, r.quantity),
            (2, r.goods, r.price),
            (3, r.goods, r.quantity),
            (4, r.date, r.goods),
            (5, r.goods, r.price, r.quantity),
            (6, r.goods, r.date, r.quantity),
        }
    return found


def record_keys(original: Side, release: Side) -> Guess:
    known, guess = [record_keys_of(rows) for rows in rows_of(original)], []
    for rows in rows_of(release):
        votes = [Fraction(0)] * len(known)
        for key in record_keys_of(rows):
            having = [i for i, keys in enumerate(known) if key in keys]
            for i in having:
                votes[i] += Fraction(1, len(having))
        guess.append(elected(votes))
    return guess


# One-to-one guesses: the best total is sought among all of them.


def injections(original: Side, release: Side) -> Iterator[Guess]:
    """Every guess of different customers for those who have a basket."""
    asked = [j for j, basket in enumerate(baskets(release)) if basket]
    for chosen in permutations(range(len(original.customers)), len(asked)):
        guess = [ABSTAIN] * len(release.customers)
        for j, i in zip(asked, chosen, strict=True):
            guess[j] = i
        yield guess


def total_similarity(original: Side, release: Side, guess: Guess, similarity: Similarity) -> Fraction:
    known, asked = baskets(original), baskets(release)
    pairs = [(asked[j], known[i]) for j, i in enumerate(guess) if i != ABSTAIN]
    return sum((similarity(a, b) for a, b in pairs), Fraction(0))


def best_total(original: Side, release: Side, similarity: Similarity) -> Fraction:
    every = injections(original, release)
    return max(total_similarity(original, release, guess, similarity) for guess in every)
