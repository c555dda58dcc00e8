"""Merge small equivalence classes with their nearest classes, changing few cells."""

import numpy as np

from anoncup.geometry.arrays import IntArray
from anoncup.geometry.encoding import group_rows


def merge_small_classes(codes: IntArray, k: int) -> IntArray:
    """Return the cluster number of every row of ``codes`` (n, columns), with at least min(k, n) rows each.

    In each round, every small cluster is linked to the cluster whose representative differs in the fewest
    columns (ties: the next one in order). Links are followed from the nearest, as long as their small end is
    still small.
    """
    cluster = group_rows(codes).group_ids
    sizes = np.bincount(cluster)
    while sizes.min() < min(k, len(codes)):
        links = _find_links(find_representatives(codes, cluster), sizes, k)
        cluster = np.unique(_follow_links(links, sizes, k)[cluster], return_inverse=True)[1]
        sizes = np.bincount(cluster)
    return cluster


def find_representatives(codes: IntArray, cluster: IntArray) -> IntArray:
    """Return the most frequent code of each column and cluster (ties: the lowest), (clusters, columns)."""
    return np.column_stack([_find_modes(column, cluster) for column in codes.T])


def _find_modes(column: IntArray, cluster: IntArray) -> IntArray:
    width = int(column.max()) + 1
    keys, counts = np.unique(cluster * width + column, return_counts=True)
    owner = keys // width
    order = np.lexsort((keys, -counts, owner))
    first = order[np.unique(owner[order], return_index=True)[1]]
    modes: IntArray = keys[first] % width
    return modes


def _find_links(centres: IntArray, sizes: IntArray, k: int) -> list[tuple[int, int, int]]:
    """Return (differing columns, small cluster, nearest cluster) for every small cluster, sorted."""
    columns = np.ascontiguousarray(centres.T.astype(np.int32))
    links = []
    for small in np.flatnonzero(sizes < k):
        differing = np.zeros(len(sizes), dtype=np.int16)
        for column in columns:
            differing += column != column[small]
        # Ties go to the next cluster in order; if all small clusters chose the same one, it would grow huge.
        rotated = np.concatenate((differing[small + 1 :], differing[:small]))
        nearest = int(rotated.argmin())
        links.append((int(rotated[nearest]), int(small), (int(small) + 1 + nearest) % len(sizes)))
    return sorted(links)


def _follow_links(links: list[tuple[int, int, int]], sizes: IntArray, k: int) -> IntArray:
    """Return the cluster that each cluster is merged into."""
    parent, root_size = list(range(len(sizes))), sizes.tolist()

    def find_root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for _, small, neighbour in links:
        small_root, neighbour_root = find_root(small), find_root(neighbour)
        if small_root != neighbour_root and root_size[small_root] < k:
            parent[small_root] = neighbour_root
            root_size[neighbour_root] += root_size[small_root]
    return np.array([find_root(cluster) for cluster in range(len(sizes))])
