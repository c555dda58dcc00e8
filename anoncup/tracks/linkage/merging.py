"""Merging small equivalence classes into near ones, round by round, with few cells changed."""

import numpy as np

from anoncup.geometry.arrays import IntArray
from anoncup.geometry.encoding import group_rows


def merge_small_classes(codes: IntArray, k: int) -> IntArray:
    """Cluster number of every row of ``codes`` (n, columns); every cluster has at least min(k, n) rows.

    In a round every small cluster is linked to the cluster whose representative differs in the fewest
    columns (of equally near ones the next in order); the links are followed, nearest first, while
    their small end still is small.
    """
    cluster = group_rows(codes).group_of
    sizes = np.bincount(cluster)
    while sizes.min() < min(k, len(codes)):
        links = _links(representatives(codes, cluster), sizes, k)
        cluster = np.unique(_followed(links, sizes, k)[cluster], return_inverse=True)[1]
        sizes = np.bincount(cluster)
    return cluster


def representatives(codes: IntArray, cluster: IntArray) -> IntArray:
    """The commonest code of each column in each cluster (ties: the lowest), shape (clusters, columns)."""
    return np.column_stack([_modes(column, cluster) for column in codes.T])


def _modes(column: IntArray, cluster: IntArray) -> IntArray:
    width = int(column.max()) + 1
    keys, counts = np.unique(cluster * width + column, return_counts=True)
    owner = keys // width
    order = np.lexsort((keys, -counts, owner))
    first = order[np.unique(owner[order], return_index=True)[1]]
    modes: IntArray = keys[first] % width
    return modes


def _links(centres: IntArray, sizes: IntArray, k: int) -> list[tuple[int, int, int]]:
    """(columns that differ, small cluster, nearest cluster) for every small cluster."""
    narrow = np.ascontiguousarray(centres.T.astype(np.int32))
    links = []
    for small in np.flatnonzero(sizes < k):
        differing = np.zeros(len(sizes), dtype=np.int16)
        for column in narrow:
            differing += column != column[small]
        # Of equally near ones the next in order: one that all took would swallow them all.
        others = np.concatenate((differing[small + 1 :], differing[:small]))
        nearest = int(others.argmin())
        links.append((int(others[nearest]), int(small), (int(small) + 1 + nearest) % len(sizes)))
    return sorted(links)


def _followed(links: list[tuple[int, int, int]], sizes: IntArray, k: int) -> IntArray:
    """The cluster that each cluster is merged into."""
    parent, weight = list(range(len(sizes))), sizes.tolist()

    def root(cluster: int) -> int:
        while parent[cluster] != cluster:
            parent[cluster] = parent[parent[cluster]]
            cluster = parent[cluster]
        return cluster

    for _, small, other in links:
        a, b = root(small), root(other)
        if a != b and weight[a] < k:
            parent[a] = b
            weight[b] += weight[a]
    return np.array([root(cluster) for cluster in range(len(sizes))])
