"""The monthly track once more: slow loops over lists, written from the formulas, with exact fractions.

Tables are lists of rows of texts: (customer, invoice, date, time, good, price, quantity). A deleted row of AT
or of a table of knowledge has DEL for its customer. F and guesses: pseudonyms by (customer, month).
"""

from collections.abc import Callable, Sequence
from datetime import date
from fractions import Fraction
from math import sqrt

Row = tuple[str, str, str, str, str, str, str]
Names = dict[tuple[str, str], str]
Key = Callable[[Row], tuple[str, ...]]
Amounts = dict[str, dict[str, int]]

LEVELS = (12, 24, 36, 48, 60, 72)
KEYS: dict[str, Key] = {
    "date_quantity": lambda row: (row[2], row[6]),
    "good_price": lambda row: (row[4][:2], row[5]),
    "good_quantity": lambda row: (row[4][:2], row[6]),
    "date_good": lambda row: (row[2], row[4][:2]),
    "good_price_quantity": lambda row: (row[4][:2], row[5], row[6]),
    "good_date_quantity": lambda row: (row[4][:2], row[2], row[6]),
}


def kept(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row[0] != "DEL"]


def day_of(row: Row) -> date:
    year, month, day = map(int, row[2].replace("/", "-").split("-"))
    return date(year, month, day)


def month_of(row: Row) -> str:
    return day_of(row).isoformat()[:7]


def months(before: Sequence[Row]) -> list[str]:
    return sorted({month_of(row) for row in before})


def answer(before: Sequence[Row], after: Sequence[Row]) -> Names:
    """F without its DELs."""
    pairs = zip(before, after, strict=True)
    return {(old[0], month_of(old)): new[0] for old, new in pairs if new[0] != "DEL"}


def attack(after: Sequence[Row], known: Sequence[Row], key: Key) -> Names:
    dictionary = {}
    for row in kept(after):
        dictionary[key(row)] = row[0]
    guess = {}
    for row in kept(known):
        if key(row) in dictionary:
            guess[row[0], month_of(row)] = dictionary[key(row)]
    return guess


def outcome(customers: Sequence[str], found: list[str], guess: Names, truth: Names) -> Fraction:
    right = 0
    for customer in customers:
        wanted = [truth.get((customer, month), "DEL") for month in found]
        named = [guess.get((customer, month), "DEL") for month in found]
        right += wanted == named
    return Fraction(right, len(customers))


def amounts(before: Sequence[Row], rows: Sequence[Row]) -> Amounts:
    """q[g][u] of every good of T, without the users who never bought it."""
    found: Amounts = {row[4]: {} for row in before}
    for row in kept(rows):
        users = found[row[4]]
        users[row[0]] = users.get(row[0], 0) + int(row[6])
    return found


def cosine(one: dict[str, int], other: dict[str, int]) -> float:
    product = sum(number * other.get(user, 0) for user, number in one.items())
    squares = sum(q * q for q in one.values()) * sum(q * q for q in other.values())
    return product / sqrt(squares) if squares else 0.0


def distance(before: Amounts, after: Amounts) -> float:
    apart = total = Fraction(0)
    for i in before:
        for j in before:
            a, c = cosine(before[i], before[j]), cosine(after[i], after[j])
            if i != j and a > 0:
                apart += abs(Fraction(a) - Fraction(c))
                total += Fraction(a)
    return float(min(Fraction(1), apart / total)) if total else 0.0


def replaced(found: Amounts, count: Callable[[int], int]) -> Amounts:
    return {good: {user: count(q) for user, q in users.items()} for good, users in found.items()}


def itemcf_levels(before: Sequence[Row], after: Sequence[Row]) -> float:
    def level(q: int) -> int:
        return sum(q >= threshold for threshold in LEVELS)

    return distance(replaced(amounts(before, before), level), replaced(amounts(before, after), level))


def itemcf_small(before: Sequence[Row], after: Sequence[Row]) -> float:
    def small(q: int) -> int:
        return q if q <= 11 else 0

    return distance(replaced(amounts(before, before), small), replaced(amounts(before, after), small))


def top(found: Amounts) -> list[str]:
    return sorted(found, key=lambda good: (len(found[good]), good), reverse=True)[:100]


def top_goods(before: Sequence[Row], after: Sequence[Row]) -> float:
    now = top(amounts(before, after))
    return float(Fraction(sum(good not in now for good in top(amounts(before, before))), 100))


def top_cf(before: Sequence[Row], after: Sequence[Row]) -> float:
    old, new = amounts(before, before), amounts(before, after)
    best = top(old)
    old, new = ({good: dict.fromkeys(table[good], 1) for good in best} for table in (old, new))
    return distance(old, new)


def date_shift(before: Sequence[Row], after: Sequence[Row]) -> float:
    pairs = [(old, new) for old, new in zip(before, after, strict=True) if new[0] != "DEL"]
    moved = sum(abs((day_of(new) - day_of(old)).days) for old, new in pairs)
    return float(Fraction(moved, 31 * len(before)))


def price_ratio(before: Sequence[Row], after: Sequence[Row]) -> float:
    lost = Fraction(0)
    for old, new in zip(before, after, strict=True):
        if new[0] != "DEL":
            one, other = Fraction(float(old[5])), Fraction(float(new[5]))
            lost += 1 - min(one, other) / max(one, other) if one or other else 0
    return float(lost / len(before))


def deleted(before: Sequence[Row], after: Sequence[Row]) -> float:
    return float(1 - Fraction(len(kept(after)), len(before)))


MEASURES: dict[str, Callable[[Sequence[Row], Sequence[Row]], float]] = {
    "itemcf_levels": itemcf_levels,
    "itemcf_small": itemcf_small,
    "top_goods": top_goods,
    "top_cf": top_cf,
    "date_shift": date_shift,
    "price_ratio": price_ratio,
    "deleted": deleted,
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
