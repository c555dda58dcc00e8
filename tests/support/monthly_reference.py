"""Second implementation of the monthly track: slow loops over lists, from the formulas, exact fractions.

Tables are lists of rows of strings: (customer, invoice, date, time, good, price, quantity). A deleted row
of AT or of a knowledge table has the customer DEL. F and guesses map (customer, month) to pseudonyms.
"""

from collections.abc import Callable, Sequence
from datetime import date
from fractions import Fraction
from math import sqrt

Row = tuple[str, str, str, str, str, str, str]
Pseudonyms = dict[tuple[str, str], str]
KeyFunction = Callable[[Row], tuple[str, ...]]
Quantities = dict[str, dict[str, int]]

LEVELS = (12, 24, 36, 48, 60, 72)
KEYS: dict[str, KeyFunction] = {
    "date_quantity": lambda row: (row[2], row[6]),
    "good_price": lambda row: (row[4][:2], row[5]),
    "good_quantity": lambda row: (row[4][:2], row[6]),
    "date_good": lambda row: (row[2], row[4][:2]),
    "good_price_quantity": lambda row: (row[4][:2], row[5], row[6]),
    "good_date_quantity": lambda row: (row[4][:2], row[2], row[6]),
}


def drop_deleted(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row[0] != "DEL"]


def parse_day(row: Row) -> date:
    year, month, day = map(int, row[2].replace("/", "-").split("-"))
    return date(year, month, day)


def parse_month(row: Row) -> str:
    return parse_day(row).isoformat()[:7]


def list_months(original: Sequence[Row]) -> list[str]:
    return sorted({parse_month(row) for row in original})


def build_answer(original: Sequence[Row], released: Sequence[Row]) -> Pseudonyms:
    """Return F without deleted entries."""
    pairs = zip(original, released, strict=True)
    return {(old[0], parse_month(old)): new[0] for old, new in pairs if new[0] != "DEL"}


def attack(released: Sequence[Row], knowledge: Sequence[Row], key: KeyFunction) -> Pseudonyms:
    pseudonyms = {}
    for row in drop_deleted(released):
        pseudonyms[key(row)] = row[0]
    guess = {}
    for row in drop_deleted(knowledge):
        if key(row) in pseudonyms:
            guess[row[0], parse_month(row)] = pseudonyms[key(row)]
    return guess


def reidentification_rate(
    customers: Sequence[str], months: list[str], guess: Pseudonyms, truth: Pseudonyms
) -> Fraction:
    correct = 0
    for customer in customers:
        true_names = [truth.get((customer, month), "DEL") for month in months]
        guessed_names = [guess.get((customer, month), "DEL") for month in months]
        correct += true_names == guessed_names
    return Fraction(correct, len(customers))


def quantities_by_good(original: Sequence[Row], rows: Sequence[Row]) -> Quantities:
    """Return q[g][u], the quantity of each good of T by user, without users who never bought it."""
    quantities: Quantities = {row[4]: {} for row in original}
    for row in drop_deleted(rows):
        users = quantities[row[4]]
        users[row[0]] = users.get(row[0], 0) + int(row[6])
    return quantities


def cosine(first: dict[str, int], second: dict[str, int]) -> float:
    product = sum(number * second.get(user, 0) for user, number in first.items())
    squares = sum(q * q for q in first.values()) * sum(q * q for q in second.values())
    return product / sqrt(squares) if squares else 0.0


def itemcf_distance(original: Quantities, released: Quantities) -> float:
    difference = total = Fraction(0)
    for i in original:
        for j in original:
            a, c = cosine(original[i], original[j]), cosine(released[i], released[j])
            if i != j and a > 0:
                difference += abs(Fraction(a) - Fraction(c))
                total += Fraction(a)
    return float(min(Fraction(1), difference / total)) if total else 0.0


def map_quantities(quantities: Quantities, convert: Callable[[int], int]) -> Quantities:
    return {good: {user: convert(q) for user, q in users.items()} for good, users in quantities.items()}


def itemcf_levels(original: Sequence[Row], released: Sequence[Row]) -> float:
    def level(q: int) -> int:
        return sum(q >= threshold for threshold in LEVELS)

    return itemcf_distance(
        map_quantities(quantities_by_good(original, original), level),
        map_quantities(quantities_by_good(original, released), level),
    )


def itemcf_small(original: Sequence[Row], released: Sequence[Row]) -> float:
    def drop_large(q: int) -> int:
        return q if q <= 11 else 0

    return itemcf_distance(
        map_quantities(quantities_by_good(original, original), drop_large),
        map_quantities(quantities_by_good(original, released), drop_large),
    )


def list_top_goods(quantities: Quantities) -> list[str]:
    return sorted(quantities, key=lambda good: (len(quantities[good]), good), reverse=True)[:100]


def top_goods(original: Sequence[Row], released: Sequence[Row]) -> float:
    released_top = list_top_goods(quantities_by_good(original, released))
    return float(
        Fraction(
            sum(good not in released_top for good in list_top_goods(quantities_by_good(original, original))),
            100,
        )
    )


def top_cf(original: Sequence[Row], released: Sequence[Row]) -> float:
    original_quantities = quantities_by_good(original, original)
    released_quantities = quantities_by_good(original, released)
    top_goods_list = list_top_goods(original_quantities)
    original_quantities, released_quantities = (
        {good: dict.fromkeys(table[good], 1) for good in top_goods_list}
        for table in (original_quantities, released_quantities)
    )
    return itemcf_distance(original_quantities, released_quantities)


def date_shift(original: Sequence[Row], released: Sequence[Row]) -> float:
    pairs = [(old, new) for old, new in zip(original, released, strict=True) if new[0] != "DEL"]
    shifted_days = sum(abs((parse_day(new) - parse_day(old)).days) for old, new in pairs)
    return float(Fraction(shifted_days, 31 * len(original)))


def price_ratio(original: Sequence[Row], released: Sequence[Row]) -> float:
    loss = Fraction(0)
    for old, new in zip(original, released, strict=True):
        if new[0] != "DEL":
            old_price, new_price = Fraction(float(old[5])), Fraction(float(new[5]))
            loss += 1 - min(old_price, new_price) / max(old_price, new_price) if old_price or new_price else 0
    return float(loss / len(original))


def deletion_share(original: Sequence[Row], released: Sequence[Row]) -> float:
    return float(1 - Fraction(len(drop_deleted(released)), len(original)))


MEASURES: dict[str, Callable[[Sequence[Row], Sequence[Row]], float]] = {
    "itemcf_levels": itemcf_levels,
    "itemcf_small": itemcf_small,
    "top_goods": top_goods,
    "top_cf": top_cf,
    "date_shift": date_shift,
    "price_ratio": price_ratio,
    "deleted": deletion_share,
}


def security(attackers: dict[str, dict[str, Fraction]], guesses: dict[str, list[Fraction]]) -> Fraction:
    best = Fraction(0)
    for outcomes in attackers.values():
        best = max(best, sum(outcomes.values(), Fraction(0)) / 4)
    total = Fraction(0)
    for question in ("link_25", "link_50", "link_75", "link_100"):
        largest = Fraction(0)
        for value in guesses.get(question, []):
            largest = max(largest, value)
        total += largest
    return max(best, total / 4)
