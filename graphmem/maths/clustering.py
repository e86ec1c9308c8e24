"""Spectral clustering of a weighted graph: which memories belong together (spec 13).

Source: Ng, Jordan and Weiss (2001); von Luxburg, A Tutorial on Spectral Clustering (2007), for the eigengap.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.vq import kmeans2
from scipy.sparse import csr_array, diags_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import eigsh

MOST_CLUSTERS = 64
"""Most clusters that the eigengap is looked for among, in one component."""
DENSE_BELOW = 200
"""Nodes of a component below which all eigenvectors are computed at once."""
TOLERANCE = 1e-3
"""Precision of eigenvectors, relative; clusters do not change below it."""
RESTARTS = 3
"""Times k-means begins anew; the tightest result counts."""

ROUNDS = 30
"""Most rounds of one k-means."""

SMOOTHING_ROUNDS = 60
"""Rounds of power iteration before a large graph is cut in two."""

Labels = NDArray[np.intp]


def spectral_clusters(weights: csr_array, seed: int, clusters: int | None = None) -> Labels:
    """Clusters of a graph, each connected component by itself.

    Parameters
    ----------
    weights : sparse array of shape (n, n), symmetric, 0 or more, without a diagonal
    seed : int, of the start of eigenvectors and k-means: the same graph and seed give the same clusters
    clusters : of a connected graph; None lets the eigengap decide, in each component

    Returns
    -------
    int array of shape (n,), the cluster of each node, numbered from 0 without gaps

    Raises
    ------
    ValueError      the weights are not square, or not symmetric

    Source: spec 13.

    Examples
    --------
    >>> two = np.kron(np.eye(2), np.ones((3, 3)) - np.eye(3))
    >>> two[2, 3] = two[3, 2] = 0.1
    >>> found = spectral_clusters(csr_array(two), seed=0)
    >>> found.tolist() in ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0])
    True
    """
    weights = csr_array(weights, dtype=np.float64)
    if weights.shape == (0, 0):
        return np.empty(0, dtype=np.intp)
    if weights.shape[0] != weights.shape[1] or abs(weights - weights.T).max() > 1e-9:
        raise ValueError("weights must be a symmetric square array")
    count, component = connected_components(weights, directed=False)
    labels: Labels = np.empty(weights.shape[0], dtype=np.intp)
    # One pass instead of one look at all nodes for each component.
    order = np.argsort(component, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(component, minlength=count))[:-1])
    taken = 0
    for nodes in parts:
        own = _component_clusters(csr_array(weights[nodes][:, nodes]), seed, clusters if count == 1 else None)
        labels[nodes] = taken + own
        taken += int(own.max()) + 1
    return labels


def bounded_parts(weights: csr_array, most: int, seed: int) -> Labels:
    """Parts of a graph, none larger than `most`: cut in two again and again where little weight is cut.

    Parameters
    ----------
    weights : sparse array of shape (n, n), symmetric, 0 or more, without a diagonal
    most : int >= 1, nodes of a part
    seed : int; the same graph and seed give the same parts

    Returns
    -------
    int array of shape (n,), the part of each node, numbered from 0 without gaps

    Notes
    -----
    Each cut is a sweep over a smooth vector, by power iteration of the lazy random walk (Spielman and Teng, 2013):
    time is edges * log(n / most).

    Examples
    --------
    >>> two = np.kron(np.eye(2), np.ones((3, 3)) - np.eye(3))
    >>> two[2, 3] = two[3, 2] = 0.1
    >>> bounded_parts(csr_array(two), 4, seed=0).tolist() in ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0])
    True
    """
    parts: Labels = np.zeros(weights.shape[0], dtype=np.intp)
    waiting, taken = [np.arange(weights.shape[0], dtype=np.intp)], 0
    while waiting:
        nodes = waiting.pop()
        if len(nodes) <= most:
            parts[nodes] = taken
            taken += 1
            continue
        own = csr_array(weights[nodes][:, nodes])
        count, component = connected_components(own, directed=False)
        if count == 1:
            component = _two_sides(own, np.random.default_rng((seed, taken, len(nodes))))
        order = np.argsort(component, kind="stable")
        waiting += [nodes[each] for each in np.split(order, np.cumsum(np.bincount(component))[:-1])]
    return parts


def _two_sides(weights: csr_array, chance: np.random.Generator) -> Labels:
    """The two sides of a connected graph that a good cut leaves, each of a quarter of the nodes or more."""
    n = weights.shape[0]
    degree = np.asarray(weights.sum(axis=1)).ravel()
    root = np.sqrt(degree)
    scale = diags_array(1.0 / root)
    walk = (scale @ weights @ scale).tocsr()
    still = root / np.linalg.norm(root)
    smooth = chance.standard_normal(n)
    for _ in range(SMOOTHING_ROUNDS):
        smooth = (smooth + walk @ smooth) / 2
        smooth -= still * (still @ smooth)
        smooth /= max(float(np.linalg.norm(smooth)), 1e-12)
    order = np.argsort(smooth / root, kind="stable")
    rank = np.empty(n, dtype=np.intp)
    rank[order] = np.arange(n)
    edges = weights.tocoo()
    first, last = (np.minimum(*(rank[c] for c in edges.coords)), np.maximum(*(rank[c] for c in edges.coords)))
    # Each edge is seen from both ends; it is cut by every cut between its ends.
    cut = np.cumsum(np.bincount(first, edges.data, n) - np.bincount(last, edges.data, n))
    mass = np.cumsum(degree[order])
    places = np.arange(max(1, n // 4), max(2, n - n // 4))
    best = places[np.argmin(cut[places - 1] / np.minimum(mass[places - 1], mass[-1] - mass[places - 1]).clip(1e-12))]
    sides: Labels = (rank >= best).astype(np.intp)
    return sides


def inside_shares(weights: csr_array, labels: Labels) -> NDArray[np.float64]:
    """The share of each cluster's edge weight that stays inside it, 0 to 1; 0 for one without edges.

    Examples
    --------
    >>> path = csr_array(np.array([[0, 3, 0], [3, 0, 1], [0, 1, 0]], dtype=float))
    >>> inside_shares(path, np.array([0, 0, 1])).tolist()
    [0.75, 0.0]
    """
    edges = weights.tocoo()
    rows, columns = edges.coords
    count = int(labels.max()) + 1 if len(labels) else 0
    all_of = np.bincount(labels[rows], edges.data, count)
    inside = np.bincount(labels[rows], edges.data * (labels[rows] == labels[columns]), count)
    # An edge inside is seen from both its ends, one that leaves from one.
    total = inside / 2 + (all_of - inside)
    shares: NDArray[np.float64] = np.divide(inside / 2, total, out=np.zeros(count), where=total > 0)
    return shares


def _component_clusters(weights: csr_array, seed: int, clusters: int | None) -> Labels:
    n = weights.shape[0]
    most = min(MOST_CLUSTERS, n // 2) if clusters is None else clusters
    if n <= 2 or most < 2:
        return np.zeros(n, dtype=np.intp)
    values, vectors = _leading(weights, min(n, most + 1), seed)
    k = clusters if clusters is not None else _eigengap(values)
    if k < 2:
        return np.zeros(n, dtype=np.intp)
    rows = vectors[:, :k]
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return _tightest(rows / np.where(norms > 0, norms, 1.0), k, seed)


def _leading(weights: csr_array, count: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The largest eigenvalues of the normalised adjacency, falling, and their eigenvectors."""
    values: NDArray[np.float64]
    vectors: NDArray[np.float64]
    degree = np.asarray(weights.sum(axis=1)).ravel()
    scale = diags_array(1.0 / np.sqrt(degree))
    normalised = (scale @ weights @ scale).tocsr()
    n = weights.shape[0]
    if n < DENSE_BELOW or count >= n - 1:
        values, vectors = np.linalg.eigh(normalised.toarray())
    else:
        start = np.random.default_rng(seed).standard_normal(n)
        values, vectors = eigsh(normalised, count, which="LA", v0=start, tol=TOLERANCE)
    order = np.argsort(values)[::-1][:count]
    return values[order], vectors[:, order]


def _eigengap(values: NDArray[np.float64]) -> int:
    """The number of clusters before the widest gap between eigenvalues; 1 where one cluster fits best."""
    return int(np.argmax(values[:-1] - values[1:])) + 1


def _tightest(rows: NDArray[np.float64], k: int, seed: int) -> Labels:
    """K-means, begun anew a few times; numbered without gaps."""
    best: tuple[float, Labels] | None = None
    for attempt in range(RESTARTS):
        first = _spread_out(rows, k, np.random.default_rng((seed, attempt)))
        centres, labels = kmeans2(rows, first, iter=ROUNDS, minit="matrix", missing="warn")
        spread = float(((rows - centres[labels]) ** 2).sum())
        if best is None or spread < best[0]:
            best = spread, labels
    assert best is not None  # there is at least one attempt
    return np.unique(best[1], return_inverse=True)[1].astype(np.intp)


def _spread_out(rows: NDArray[np.float64], k: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """First centres of k-means, far from each other: greedy k-means++ (Arthur and Vassilvitskii, 2007)."""
    squares = (rows**2).sum(axis=1)

    def distances(of: NDArray[np.intp]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = np.maximum(squares[of][:, np.newaxis] + squares - 2 * rows[of] @ rows.T, 0.0)
        return found

    chosen = [int(rng.integers(len(rows)))]
    nearest = distances(np.array(chosen))[0]
    for _ in range(k - 1):
        total = nearest.sum()
        tried = rng.choice(len(rows), 2 + int(np.log(k)), p=nearest / total if total > 0 else None)
        left = np.minimum(nearest, distances(tried))
        best = int(left.sum(axis=1).argmin())
        chosen.append(int(tried[best]))
        nearest = left[best]
    centres: NDArray[np.float64] = rows[np.array(chosen)]
    return centres
