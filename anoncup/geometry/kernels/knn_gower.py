"""Kernel that finds the k nearest rows by Gower's distance."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anoncup.geometry.arrays import FloatArray, IntArray
from anoncup.geometry.kernels.compilation import compile_loop
from anoncup.geometry.kernels.gower import make_positive

_ByteArray = npt.NDArray[np.uint8]
_CLASSES_PER_BLOCK = 32
_MAX_BYTE_COLUMNS = 255
"""Number of code columns whose mismatches a byte can count."""


class GowerIndex(NamedTuple):
    """Rows by class, that is by equal codes, for a search by Gower's distance.

    - ``class_codes`` (classes, code columns): the codes that all rows of a class have.
    - ``code_bytes`` (the first code columns, ``_CLASSES_PER_BLOCK``, blocks): the lowest bytes of these
      codes. The class at [:, i, j] is ``j * _CLASSES_PER_BLOCK + i``; there are zeros behind the last one.
    - ``starts`` (classes + 1,): class c has the ``rows[starts[c]:starts[c + 1]]``.
    - ``rows`` (rows,), ascending in each class, and their ``values`` (rows, value columns).
    - ``widths`` (value columns,): differences are divided by them.
    """

    class_codes: IntArray
    code_bytes: _ByteArray
    starts: IntArray
    rows: IntArray
    values: FloatArray
    widths: FloatArray


def build_gower_index(
    *, rows: IntArray, class_ids: IntArray, codes: IntArray, values: FloatArray, widths: FloatArray
) -> GowerIndex:
    """Index the given rows of a table, which are ascending.

    ``class_ids`` (n,), ``codes`` (n, code columns) and ``values`` (n, value columns) are those of all rows of
    the table; rows with equal codes have the same class. ``widths`` are as for ``gower_sums``.
    """
    rows = rows[np.argsort(class_ids[rows], kind="stable")]
    starts = np.flatnonzero(np.diff(class_ids[rows], prepend=-1))
    class_codes = np.ascontiguousarray(codes[rows[starts]])
    return GowerIndex(
        class_codes=class_codes,
        code_bytes=_pack_bytes(class_codes[:, :_MAX_BYTE_COLUMNS]),
        starts=np.append(starts, len(rows)),
        rows=rows,
        values=np.ascontiguousarray(values[rows]),
        widths=make_positive(widths),
    )


def _pack_bytes(class_codes: IntArray) -> _ByteArray:
    classes, columns = class_codes.shape
    blocks = -(-classes // _CLASSES_PER_BLOCK)
    packed = np.zeros((columns, blocks * _CLASSES_PER_BLOCK), dtype=np.uint8)
    packed[:, :classes] = class_codes.T & 255
    by_block = packed.reshape(columns, blocks, _CLASSES_PER_BLOCK)
    return np.ascontiguousarray(by_block.transpose(0, 2, 1))


def find_k_nearest_by_gower(
    index: GowerIndex,
    *,
    codes: IntArray,
    values: FloatArray,
    count: int,
    minimum_sums: FloatArray | None = None,
) -> tuple[IntArray, FloatArray]:
    """Return the ``count`` indexed rows nearest to each query, and Gower's sums, both (queries, count).

    ``codes`` and ``values`` (queries, columns) are best sorted by codes. The sums are those of
    ``gower_sums``, but at least ``minimum_sums`` (queries,). Each line is sorted by sum, then by row, and
    padded with -1 and infinity.
    """
    return _search_classes(
        index,
        np.ascontiguousarray(codes),
        np.ascontiguousarray(values),
        np.zeros(len(codes)) if minimum_sums is None else minimum_sums,
        count,
    )


@compile_loop
def _search_classes(
    index: GowerIndex, codes: IntArray, values: FloatArray, minimum_sums: FloatArray, count: int
) -> tuple[IntArray, FloatArray]:  # pragma: no cover - compiled
    """Search classes in ascending order of mismatches, until these alone exceed the last sum of a line.

    Mismatches are counted again only if the codes are not those of the previous query.
    """
    queries, classes = len(codes), len(index.class_codes)
    rows, sums = np.full((queries, count), -1), np.full((queries, count), np.inf)
    for query in range(queries):
        if query == 0 or (codes[query] != codes[query - 1]).any():
            mismatches, fewest = _count_mismatches(index.code_bytes, codes[query])
        for level in range(len(index.code_bytes) + 1):
            if level > sums[query, -1]:
                break
            for block in range(len(fewest)):
                if fewest[block] > level:
                    continue
                first = block * _CLASSES_PER_BLOCK
                for class_index in range(first, min(first + _CLASSES_PER_BLOCK, classes)):
                    if mismatches[class_index - first, block] == level:
                        _search_class(
                            index, class_index, codes[query], values[query], minimum_sums[query],
                            rows[query], sums[query],
                        )  # fmt: skip
    return rows, sums


@compile_loop
def _count_mismatches(
    code_bytes: _ByteArray, codes: IntArray
) -> tuple[_ByteArray, _ByteArray]:  # pragma: no cover - compiled
    """Return the mismatches of each class in the lowest bytes of ``codes``, and the fewest of each block.

    Both are arranged as in ``code_bytes``: (``_CLASSES_PER_BLOCK``, blocks) and (blocks,). Equal codes have
    equal bytes, so a class has at least as many mismatches. The inner loops run along contiguous bytes, so
    that they can be vectorized.
    """
    columns, lines, blocks = code_bytes.shape
    mismatches = np.zeros(lines * blocks, dtype=np.uint8)
    for column in range(columns):
        byte, column_bytes = np.uint8(codes[column] & 255), code_bytes[column].ravel()
        for place in range(len(mismatches)):
            mismatches[place] += np.uint8(column_bytes[place] != byte)
    fewest = np.full(blocks, 255, dtype=np.uint8)
    for line in range(lines):
        line_mismatches = mismatches[line * blocks : (line + 1) * blocks]
        for block in range(blocks):
            fewest[block] = min(fewest[block], line_mismatches[block])
    return mismatches.reshape((lines, blocks)), fewest


@compile_loop
def _search_class(  # noqa: PLR0917 - compiled code takes plain arrays by position
    index: GowerIndex,
    class_index: int,
    codes: IntArray,
    values: FloatArray,
    minimum_sum: float,
    best_rows: IntArray,
    best_sums: FloatArray,
) -> None:  # pragma: no cover - compiled
    """Merge the rows of a class into the line of a query, which is sorted by sum, then by row."""
    class_codes, mismatches = index.class_codes[class_index], 0.0
    for column in range(len(codes)):
        mismatches += codes[column] != class_codes[column]
    last = len(best_sums) - 1
    for place in range(index.starts[class_index], index.starts[class_index + 1]):
        total, row = mismatches, index.rows[place]
        for column in range(len(values)):
            total += min(abs(index.values[place, column] - values[column]) / index.widths[column], 1.0)
            if total > best_sums[last]:
                break
        total = max(total, minimum_sum)
        slot = last
        if total > best_sums[last] or (total == best_sums[last] and row > best_rows[last]):
            continue
        while slot > 0 and (
            total < best_sums[slot - 1] or (total == best_sums[slot - 1] and row < best_rows[slot - 1])
        ):
            best_sums[slot], best_rows[slot] = best_sums[slot - 1], best_rows[slot - 1]
            slot -= 1
        best_sums[slot], best_rows[slot] = total, row
