"""Merge small equivalence classes with similar ones, so that few cells must change."""

import numpy as np

from anoncup.geometry.arrays import IntArray
from anoncup.geometry.encoding import group_rows


def merge_small_classes(codes: IntArray, k: int) -> IntArray:
    """Return the cluster of every row of ``codes`` (n, columns); clusters have at least min(k, n) rows.

    In each round, every cluster with less than k rows is linked to the cluster whose representative differs
    in the fewest columns (ties: the next one in order). Then linked clusters are merged, the most similar
    first, unless the small one has reached k rows in the meantime.
    """
    cluster_of = group_rows(codes).group_ids
    sizes = np.bincount(cluster_of)
    while sizes.min() < min(k, len(codes)):
        links = _find_links(find_representatives(codes, cluster_of), sizes, k)
        cluster_of = np.unique(_follow_links(links, sizes, k)[cluster_of], return_inverse=True)[1]
        sizes = np.bincount(cluster_of)
    return cluster_of


def find_representatives(codes: IntArray, cluster_of: IntArray) -> IntArray:
    """Return the most frequent code of each column and cluster (ties: the lowest), (clusters, columns)."""
    return np.column_stack([_find_modes(column, cluster_of) for column in codes.T])


def _find_modes(column: IntArray, cluster_of: IntArray) -> IntArray:
    code_count = int(column.max()) + 1
    keys, counts = np.unique(cluster_of * code_count + column, return_counts=True)
    key_clusters = keys // code_count
    order = np.lexsort((keys, -counts, key_clusters))
    mode_positions = order[np.unique(key_clusters[order], return_index=True)[1]]
    modes: IntArray = keys[mode_positions] % code_count
    return modes


def _find_links(centres: IntArray, sizes: IntArray, k: int) -> list[tuple[int, int, int]]:
    """Return (number of differing columns, small cluster, nearest cluster) for each small cluster, sorted."""
    columns = np.ascontiguousarray(centres.T.astype(np.int32))
    links = []
    for small_cluster in np.flatnonzero(sizes < k):
        differing_counts = np.zeros(len(sizes), dtype=np.int16)
        for column in columns:
            differing_counts += column != column[small_cluster]
        # Ties go to the next cluster in order; if all small clusters chose the same one, it would grow huge.
        rotated = np.concatenate((differing_counts[small_cluster + 1 :], differing_counts[:small_cluster]))
        nearest = int(rotated.argmin())
        links.append(
            (int(rotated[nearest]), int(small_cluster), (int(small_cluster) + 1 + nearest) % len(sizes))
        )
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
