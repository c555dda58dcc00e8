"""Kernels that encode texts, group rows by keys, and find identical rows."""

import numpy as np

from anoncup.geometry.arrays import FloatArray, IntArray, TextArray
from anoncup.geometry.kernels.compilation import compile_loop

_HASH_FACTOR = 0x9E3779B97F4A7C1
"""Odd factor of a multiplicative hash, which spreads the bits of a key."""


_MAX_TEXT_BYTES = 7
"""Maximum number of bytes of a text that fits into an integer together with its length."""


@compile_loop
def encode_texts(  # noqa: PLR0917 - compiled code takes plain arrays by position
    offsets: IntArray,
    characters: TextArray,
    slots: IntArray,
    keys: IntArray,
    first_rows: IntArray,
    codes: IntArray,
) -> int:  # pragma: no cover - compiled
    """Number texts in order of appearance into ``codes``; return the number of distinct texts.

    Text i is ``characters[offsets[i]:offsets[i + 1]]``. ``first_rows`` gets the row in which each distinct
    text occurs first. Returns -1 if a text is too long, or if there are more distinct texts than ``keys`` and
    ``first_rows`` can hold. ``slots`` is all -1; its length is a power of two and larger than theirs.
    """
    count = 0
    for row in range(codes.shape[0]):
        key = offsets[row + 1] - offsets[row]
        if key > _MAX_TEXT_BYTES:
            return -1
        for position in range(offsets[row], offsets[row + 1]):
            key = key << 8 | characters[position]
        hashed = key * _HASH_FACTOR
        slot = (hashed ^ (hashed >> 32)) & (slots.shape[0] - 1)
        while slots[slot] >= 0 and keys[slots[slot]] != key:
            slot = (slot + 1) & (slots.shape[0] - 1)
        if slots[slot] < 0:
            if count == keys.shape[0]:
                return -1
            slots[slot], keys[count], first_rows[count] = count, key, row
            count += 1
        codes[row] = slots[slot]
    return count


@compile_loop
def append_digits(columns: IntArray, widths: IntArray, keys: IntArray) -> None:  # pragma: no cover - compiled
    """Append the codes of each row to its key as digits, in place.

    ``columns`` (columns, n) are the codes, ``widths`` (columns,) the bases of the digits, and ``keys`` (n,)
    the keys. A key becomes -1 if a code is not below its base, and then stays -1.
    """
    for column in range(columns.shape[0]):
        width = widths[column]
        for row in range(keys.shape[0]):
            code, key = columns[column, row], keys[row]
            keys[row] = key * width + code if key >= 0 and code < width else -1


@compile_loop
def build_hash_slots(distinct: IntArray, slots: IntArray) -> None:  # pragma: no cover - compiled
    """Fill the hash table ``slots`` with the positions of distinct keys.

    It is all -1 before; its length is a power of two and larger than the number of keys.
    """
    for index in range(distinct.shape[0]):
        hashed = distinct[index] * _HASH_FACTOR
        slot = (hashed ^ (hashed >> 32)) & (slots.shape[0] - 1)
        while slots[slot] >= 0:
            slot = (slot + 1) & (slots.shape[0] - 1)
        slots[slot] = index


@compile_loop
def look_up_keys(keys: IntArray, distinct: IntArray, slots: IntArray) -> None:  # pragma: no cover - compiled
    """Replace each key by its position in ``distinct``, or -1; ``slots`` is its hash table."""
    for row in range(keys.shape[0]):
        hashed = keys[row] * _HASH_FACTOR
        slot = (hashed ^ (hashed >> 32)) & (slots.shape[0] - 1)
        while slots[slot] >= 0 and distinct[slots[slot]] != keys[row]:
            slot = (slot + 1) & (slots.shape[0] - 1)
        keys[row] = slots[slot]


@compile_loop
def sort_by_group(
    group_ids: IntArray, starts: IntArray, rows: IntArray
) -> None:  # pragma: no cover - compiled
    """Fill ``rows`` with the rows of the first group, then of the next, and so on, ascending within a group.

    ``starts`` contains the position at which each group begins. Afterwards it contains where each group ends.
    """
    for row in range(group_ids.shape[0]):
        group = group_ids[row]
        rows[starts[group]] = row
        starts[group] += 1


@compile_loop
def find_first_duplicates(  # noqa: PLR0917 - compiled code takes plain arrays by position
    group_ids: IntArray,
    values: FloatArray,
    indexed_group_ids: IntArray,
    indexed_values: FloatArray,
    slots: IntArray,
    is_building: bool,
    first_rows: IntArray,
) -> None:  # pragma: no cover - compiled
    """Fill ``first_rows`` with the lowest indexed row of the same group and values, or -1 if there is none.

    ``slots`` is the hash table of the indexed rows. If ``is_building``, it is all -1, and the rows themselves
    are added to it; its length is a power of two and larger than the number of rows. 0.0 and -0.0 are equal.
    """
    value = np.empty(1)
    bits = value.view(np.int64)
    for row in range(group_ids.shape[0]):
        hashed = group_ids[row] * _HASH_FACTOR
        for column in range(values.shape[1]):
            value[0] = values[row, column] + 0.0
            hashed = (hashed ^ (hashed >> 29) ^ bits[0]) * _HASH_FACTOR
        slot = (hashed ^ (hashed >> 32)) & (slots.shape[0] - 1)
        while slots[slot] >= 0:
            candidate, column = slots[slot], 0
            if indexed_group_ids[candidate] == group_ids[row]:
                while column < values.shape[1] and indexed_values[candidate, column] == values[row, column]:
                    column += 1
                if column == values.shape[1]:
                    break
            slot = (slot + 1) & (slots.shape[0] - 1)
        if is_building and slots[slot] < 0:
            slots[slot] = row
        first_rows[row] = slots[slot]
