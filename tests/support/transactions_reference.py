"""Second implementation of the transactions track: slow loops over lists, exact fractions.

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

from tests.support.microdata_reference import Guess, average, clamp_to_float

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


class PlainTables(NamedTuple):
    """M and T of the original, or M' and T' of the release."""

    customers: list[Customer]
    records: list[Record]


def records_by_customer(tables: PlainTables) -> list[list[Record]]:
    """Return the records of each customer, in the order of the customers."""
    return [[r for r in tables.records if r.customer == c.name] for c in tables.customers]


def build_baskets(tables: PlainTables) -> list[Basket]:
    """Return q_u of each customer: the total quantity of each good, without goods never bought."""
    baskets = []
    for rows in records_by_customer(tables):
        basket: Basket = {}
        for record in rows:
            basket[record.goods] = basket.get(record.goods, 0) + record.quantity
        baskets.append(basket)
    return baskets


def spend(rows: Sequence[Record]) -> Fraction:
    return sum((Fraction(r.price) * r.quantity for r in rows), Fraction(0))


def are_tied(a: Fraction, b: Fraction) -> bool:
    return abs(a - b) <= TIE * max(abs(a), abs(b))


def first_highest(scores: Sequence[Fraction]) -> int:
    """Return the first row whose score ties with the largest."""
    largest = max(scores)
    return next(row for row, score in enumerate(scores) if are_tied(score, largest))


# Utility.


def cross_table(tables: PlainTables, amount: Callable[[list[Record]], Fraction]) -> dict[Key, Fraction]:
    """Return the mean amount by sex and country over the customers with records."""
    cells: dict[Key, list[Fraction]] = {}
    for customer, rows in zip(tables.customers, records_by_customer(tables), strict=True):
        if rows:
            cells.setdefault((customer.sex, customer.country), []).append(amount(rows))
    return {cell: average(amounts) for cell, amounts in cells.items()}


def cmae(original: PlainTables, release: PlainTables, amount: Callable[[list[Record]], Fraction]) -> float:
    original_cells, released_cells = cross_table(original, amount), cross_table(release, amount)
    zero, customers = Fraction(0), original.customers + release.customers
    cells = [
        (sex, country) for sex in {c.sex for c in customers} for country in {c.country for c in customers}
    ]
    gaps = [abs(original_cells.get(cell, zero) - released_cells.get(cell, zero)) for cell in cells]
    return clamp_to_float(average(gaps))


def mean_price(rows: list[Record]) -> Fraction:
    return average([Fraction(r.price) for r in rows])


def cmae_price(original: PlainTables, release: PlainTables) -> float:
    return cmae(original, release, mean_price)


def cmae_spend(original: PlainTables, release: PlainTables) -> float:
    return cmae(original, release, spend)


def ordinal_day(text: str) -> int:
    return date.fromisoformat(text).toordinal()


def recency_frequency_money(tables: PlainTables, last_day: int) -> list[list[Fraction]]:
    """Return R, F and M of each customer with records."""
    return [
        [
            Fraction(last_day - max(ordinal_day(r.date) for r in rows)),
            Fraction(len({r.receipt for r in rows})),
            spend(rows),
        ]
        for rows in records_by_customer(tables)
        if rows
    ]


def decile(values: Sequence[Fraction], k: int) -> Fraction:
    ordered, position = sorted(values), Fraction((len(values) - 1) * k, 10)
    low = floor(position)
    high = min(low + 1, len(values) - 1)
    return ordered[low] + (position - low) * (ordered[high] - ordered[low])


def is_above(value: Fraction, threshold: Fraction) -> bool:
    return value > threshold and not are_tied(value, threshold)


def rfm_cell(values: Sequence[Fraction], deciles: list[list[Fraction]]) -> Key:
    return tuple(
        sum(is_above(value, threshold) for threshold in thresholds)
        for value, thresholds in zip(values, deciles, strict=True)
    )


def rfm(original: PlainTables, release: PlainTables) -> float:
    last_day = max(ordinal_day(r.date) for r in original.records)
    original_values = recency_frequency_money(original, last_day)
    released_values = recency_frequency_money(release, last_day)
    deciles = [[decile([values[c] for values in original_values], k) for k in range(1, 10)] for c in range(3)]
    original_cells = [rfm_cell(values, deciles) for values in original_values]
    released_cells = [rfm_cell(values, deciles) for values in released_values]
    cells = set(original_cells) | set(released_cells)
    return float(Fraction(sum(abs(original_cells.count(c) - released_cells.count(c)) for c in cells), 1000))


def row_difference(original: PlainTables, release: PlainTables) -> float:
    return abs(signed_row_difference(original, release))


def signed_row_difference(original: PlainTables, release: PlainTables) -> float:
    return float(len(release.records) - len(original.records))


def buyers_by_good(tables: PlainTables) -> dict[str, set[int]]:
    buyers: dict[str, set[int]] = {}
    for customer, basket in enumerate(build_baskets(tables)):
        for goods in basket:
            buyers.setdefault(goods, set()).add(customer)
    return buyers


def pair_cosine(buyers: dict[str, set[int]], g: str, h: str) -> float:
    g_buyers, h_buyers = buyers.get(g, set()), buyers.get(h, set())
    return len(g_buyers & h_buyers) / sqrt(len(g_buyers) * len(h_buyers)) if g_buyers and h_buyers else 0.0


def goods_cosine(original: PlainTables, release: PlainTables) -> float:
    original_buyers, released_buyers = buyers_by_good(original), buyers_by_good(release)
    pairs = [
        (g, h) for g, h in combinations(sorted(original_buyers), 2) if original_buyers[g] & original_buyers[h]
    ]
    if not pairs:
        return 0.0
    change = sum(
        abs(pair_cosine(original_buyers, g, h) - pair_cosine(released_buyers, g, h)) for g, h in pairs
    )
    return min(change / sum(pair_cosine(original_buyers, g, h) for g, h in pairs), 1.0)


def most_bought_goods(tables: PlainTables) -> list[str]:
    buyer_sets = buyers_by_good(tables)
    return sorted(buyer_sets, key=lambda goods: (-len(buyer_sets[goods]), goods))[:100]


def top_goods(original: PlainTables, release: PlainTables) -> float:
    original_top, released_top = most_bought_goods(original), most_bought_goods(release)
    return len([goods for goods in original_top if goods not in released_top]) / len(original_top)


# Anonymity.


def class_sizes(keys: Sequence[Hashable]) -> list[int]:
    return [sum(other_key == key for other_key in keys) for key in set(keys)]


def master_keys(tables: PlainTables) -> list[Key]:
    return [(c.sex, c.birthday, c.country) for c in tables.customers]


def goods_sets(tables: PlainTables) -> list[frozenset[str]]:
    return [frozenset(basket) for basket in build_baskets(tables)]


def k_min(keys: Sequence[Hashable]) -> float:
    """Return the smallest class size of ``master_keys``, or of ``goods_sets`` for the k of baskets."""
    return float(min(class_sizes(keys)))


def k_mean(keys: Sequence[Hashable]) -> float:
    return len(keys) / len(class_sizes(keys))


def random_in_cluster_rate(release: PlainTables) -> float:
    return len(set(goods_sets(release))) / len(release.customers)


# Similarities and distances.


def set_similarity(a: Basket, b: Basket) -> Fraction:
    union = set(a) | set(b)
    return Fraction(len(set(a) & set(b)), len(union)) if union else Fraction(1)


def quantity_similarity(a: Basket, b: Basket) -> Fraction:
    union = set(a) | set(b)
    shared = sum(min(a.get(g, 0), b.get(g, 0)) for g in union)
    return Fraction(shared, sum(max(a.get(g, 0), b.get(g, 0)) for g in union)) if union else Fraction(1)


def distances(
    original: PlainTables, release: PlainTables, source: Sequence[int], similarity: Similarity
) -> list[float]:
    """Return the distance of each individual of the original to its release; 1 if deleted."""
    original_baskets, released_baskets, distances = build_baskets(original), build_baskets(release), []
    for i, basket in enumerate(original_baskets):
        released_rows = [j for j, row in enumerate(source) if row == i]
        distances.append(
            float(1 - similarity(basket, released_baskets[released_rows[0]])) if released_rows else 1.0
        )
    return distances


def distance_matrix(original: PlainTables, similarity: Similarity) -> list[list[float]]:
    all_baskets = build_baskets(original)
    return [[float(1 - similarity(a, b)) for b in all_baskets] for a in all_baskets]


# Attackers.


def most_similar(original: PlainTables, release: PlainTables, similarity: Similarity) -> Guess:
    original_baskets = build_baskets(original)
    return [
        first_highest([similarity(basket, candidate) for candidate in original_baskets])
        if basket
        else ABSTAIN
        for basket in build_baskets(release)
    ]


def jaccard(original: PlainTables, release: PlainTables) -> Guess:
    return most_similar(original, release, set_similarity)


def jaccard_quantity(original: PlainTables, release: PlainTables) -> Guess:
    return most_similar(original, release, quantity_similarity)


def goods_weights(original: PlainTables) -> dict[str, Decimal]:
    """Return ln(n / number of buyers) + 1 for each good of the original."""
    n = len(original.customers)
    return {g: (Decimal(n) / len(customers)).ln() + 1 for g, customers in buyers_by_good(original).items()}


def tfidf_vector(basket: Basket, weights: dict[str, Decimal]) -> dict[str, Decimal]:
    """Return the weights f'_ij, where f_ij is 1 for the goods of the basket (Algorithm 3 of P3)."""
    return {g: weights[g] / len(basket) for g in basket if g in weights}


def cosine(a: dict[str, Decimal], b: dict[str, Decimal]) -> Fraction:
    inner = sum((a[g] * b[g] for g in a if g in b), Decimal(0))
    lengths = [sum((w * w for w in vector.values()), Decimal(0)).sqrt() for vector in (a, b)]
    return Fraction(inner / (lengths[0] * lengths[1])) if inner else Fraction(0)


def tfidf(original: PlainTables, release: PlainTables) -> Guess:
    with localcontext() as context:
        context.prec = 50
        weights = goods_weights(original)
        original_vectors = [tfidf_vector(basket, weights) for basket in build_baskets(original)]
        release_vectors = [tfidf_vector(basket, weights) for basket in build_baskets(release)]
        return [
            first_highest([cosine(vector, candidate) for candidate in original_vectors])
            if vector
            else ABSTAIN
            for vector in release_vectors
        ]


def master_match(original: PlainTables, release: PlainTables) -> Guess:
    keys, original_baskets, guess = master_keys(original), build_baskets(original), []
    for key, basket in zip(master_keys(release), build_baskets(release), strict=True):
        matching = [i for i, original_key in enumerate(keys) if original_key == key]
        scores = [set_similarity(basket, original_baskets[i]) for i in matching]
        guess.append(matching[first_highest(scores)] if matching else ABSTAIN)
    return guess


def elect(votes: list[Fraction]) -> int:
    return first_highest(votes) if any(votes) else ABSTAIN


def receipt_match(original: PlainTables, release: PlainTables) -> Guess:
    original_receipts = [{r.receipt for r in rows} for rows in records_by_customer(original)]
    guess = []
    for rows in records_by_customer(release):
        release_receipts = {r.receipt for r in rows}
        guess.append(elect([Fraction(len(release_receipts & receipts)) for receipts in original_receipts]))
    return guess


def own_row(original: PlainTables, release: PlainTables) -> Guess:
    return list(range(len(release.customers)))


def rank_rows(values: Sequence[Fraction]) -> list[int]:
    """Return the rows sorted by value; a run of tied neighbours is sorted by row."""
    runs: list[list[int]] = []
    for row in sorted(range(len(values)), key=lambda row: values[row]):
        if runs and are_tied(values[runs[-1][-1]], values[row]):
            runs[-1].append(row)
        else:
            runs.append([row])
    return [row for run in runs for row in sorted(run)]


def sort_spend(original: PlainTables, release: PlainTables) -> Guess:
    guess = [ABSTAIN] * len(release.customers)
    original_order = rank_rows([spend(rows) for rows in records_by_customer(original)])
    released_order = rank_rows([spend(rows) for rows in records_by_customer(release)])
    for j, i in zip(released_order, original_order, strict=False):
        guess[j] = i
    return guess


def customer_record_keys(rows: Sequence[Record]) -> set[Key]:
    """Return the distinct keys of a customer's records; the first element is the kind of key."""
    keys: set[Key] = set()
    for r in rows:
        keys |= {
            (1, r.date, r.quantity),
            (2, r.goods, r.price),
            (3, r.goods, r.quantity),
            (4, r.date, r.goods),
            (5, r.goods, r.price, r.quantity),
            (6, r.goods, r.date, r.quantity),
        }
    return keys


def record_keys(original: PlainTables, release: PlainTables) -> Guess:
    original_keys, guess = [customer_record_keys(rows) for rows in records_by_customer(original)], []
    for rows in records_by_customer(release):
        votes = [Fraction(0)] * len(original_keys)
        for key in customer_record_keys(rows):
            owners = [i for i, keys in enumerate(original_keys) if key in keys]
            for i in owners:
                votes[i] += Fraction(1, len(owners))
        guess.append(elect(votes))
    return guess


# One-to-one guesses, by exhaustive search for the best total.


def injections(original: PlainTables, release: PlainTables) -> Iterator[Guess]:
    """Yield every guess that assigns distinct customers to the non-empty baskets."""
    shoppers = [j for j, basket in enumerate(build_baskets(release)) if basket]
    for customers in permutations(range(len(original.customers)), len(shoppers)):
        guess = [ABSTAIN] * len(release.customers)
        for j, i in zip(shoppers, customers, strict=True):
            guess[j] = i
        yield guess


def total_similarity(
    original: PlainTables, release: PlainTables, guess: Guess, similarity: Similarity
) -> Fraction:
    original_baskets, released_baskets = build_baskets(original), build_baskets(release)
    pairs = [(released_baskets[j], original_baskets[i]) for j, i in enumerate(guess) if i != ABSTAIN]
    return sum((similarity(a, b) for a, b in pairs), Fraction(0))


def best_total(original: PlainTables, release: PlainTables, similarity: Similarity) -> Fraction:
    guesses = injections(original, release)
    return max(total_similarity(original, release, guess, similarity) for guess in guesses)
