"""The compiled loops that number texts, group rows by one number a row, and find identical rows."""

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray, TextArray
from anoncup.geometry.kernels.compilation import compiled

SPREAD = 0x9E3779B97F4A7C1
"""An odd factor that spreads what it multiplies over all bits."""


LONGEST_TEXT = 7
"""Bytes of a text that fit into a number beside their count."""


@compiled
def number_texts(  # noqa: PLR0917 - compiled code takes plain arrays by position
    bounds: IntArray, letters: TextArray, slots: IntArray, keys: IntArray, firsts: IntArray, codes: IntArray
) -> int:  # pragma: no cover - compiled
    """Number texts in order of appearance, and say how many there are and where they come first.

    Text i is ``letters[bounds[i]:bounds[i + 1]]``. -1 if one is too long, or they are more than ``keys`` and
    ``firsts`` have room for; ``slots``, all -1, are a power of two, and more than these.
    """
    count = 0
    for row in range(codes.shape[0]):
        key = bounds[row + 1] - bounds[row]
        if key > LONGEST_TEXT:
            return -1
        for place in range(bounds[row], bounds[row + 1]):
            key = key << 8 | letters[place]
        mixed = key * SPREAD
        slot = (mixed ^ (mixed >> 32)) & (slots.shape[0] - 1)
        while slots[slot] >= 0 and keys[slots[slot]] != key:
            slot = (slot + 1) & (slots.shape[0] - 1)
        if slots[slot] < 0:
            if count == keys.shape[0]:
                return -1
            slots[slot], keys[count], firsts[count] = count, key, row
            count += 1
        codes[row] = slots[slot]
    return count


@compiled
def join_digits(columns: IntArray, widths: IntArray, keys: IntArray) -> None:  # pragma: no cover - compiled
    """Append to each key the codes of its row as digits; -1 where it was, or a code is as large as its width.

    ``columns`` (columns, n), ``widths`` (columns,), ``keys`` (n,) in place.
    """
    for column in range(columns.shape[0]):
        width = widths[column]
        for row in range(keys.shape[0]):
            code, key = columns[column, row], keys[row]
            keys[row] = key * width + code if key >= 0 and code < width else -1


@compiled
def plant(distinct: IntArray, slots: IntArray) -> None:  # pragma: no cover - compiled
    """Hash the places of distinct keys into ``slots``: all -1, a power of two of them, more than keys."""
    for place in range(distinct.shape[0]):
        mixed = distinct[place] * SPREAD
        slot = (mixed ^ (mixed >> 32)) & (slots.shape[0] - 1)
        while slots[slot] >= 0:
            slot = (slot + 1) & (slots.shape[0] - 1)
        slots[slot] = place


@compiled
def find(keys: IntArray, distinct: IntArray, slots: IntArray) -> None:  # pragma: no cover - compiled
    """Exchange each key for its place among the distinct ones that were planted, -1 if it is none of them."""
    for row in range(keys.shape[0]):
        mixed = keys[row] * SPREAD
        slot = (mixed ^ (mixed >> 32)) & (slots.shape[0] - 1)
        while slots[slot] >= 0 and distinct[slots[slot]] != keys[row]:
            slot = (slot + 1) & (slots.shape[0] - 1)
        keys[row] = slots[slot]


@compiled
def place_by_group(
    group_of: IntArray, starts: IntArray, rows: IntArray
) -> None:  # pragma: no cover - compiled
    """Fill ``rows`` with those of the first group, then of the next, and so on, each group's ascending.

    ``starts`` says where each group's begin, and afterwards where they end.
    """
    for row in range(group_of.shape[0]):
        group = group_of[row]
        rows[starts[group]] = row
        starts[group] += 1


@compiled
def first_alike(  # noqa: PLR0917 - compiled code takes plain arrays by position
    groups: IntArray,
    cells: FloatArray,
    known_groups: IntArray,
    known: FloatArray,
    slots: IntArray,
    planting: bool,
    found: IntArray,
) -> None:  # pragma: no cover - compiled
    """Fill ``found`` with the lowest known row that has a row's group and cells, -1 where there is none.

    ``slots`` hold the known rows where hashing finds them. ``planting``: the rows are the known ones, and
    slots all -1, a power of two of them, more than rows. 0.0 and -0.0 are equal.
    """
    cell = np.empty(1)
    bits = cell.view(np.int64)
    for row in range(groups.shape[0]):
        mixed = groups[row] * SPREAD
        for column in range(cells.shape[1]):
            cell[0] = cells[row, column] + 0.0
            mixed = (mixed ^ (mixed >> 29) ^ bits[0]) * SPREAD
        slot = (mixed ^ (mixed >> 32)) & (slots.shape[0] - 1)
        while slots[slot] >= 0:
            other, column = slots[slot], 0
            if known_groups[other] == groups[row]:
                while column < cells.shape[1] and known[other, column] == cells[row, column]:
                    column += 1
                if column == cells.shape[1]:
                    break
            slot = (slot + 1) & (slots.shape[0] - 1)
        if planting and slots[slot] < 0:
            slots[slot] = row
        found[row] = slots[slot]
