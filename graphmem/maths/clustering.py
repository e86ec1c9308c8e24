"""Spectral clustering of a weighted graph: which memories belong together (spec 13).

Source: Ng, Jordan and Weiss (2001); von Luxburg, A Tutorial on Spectral Clustering (2007), for the eigengap.
"""

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import csr_array, eye_array
from scipy.sparse.linalg import eigsh
from threadpoolctl import ThreadpoolController

if TYPE_CHECKING:
    import networkx as nx

MOST_CLUSTERS = 64
"""Most clusters that the eigengap is looked for among, in one component."""
DENSE_BELOW = 200
"""Nodes of a component below which all eigenvectors are computed at once."""
TOLERANCE = 1e-3
"""Precision of eigenvectors, relative; clusters do not change below it."""
RESTARTS = 10
"""Times k-means begins anew; the tightest result counts."""

Labels = NDArray[np.intp]


def spectral_clusters(weights: csr_array, seed: int, clusters: int | None = None) -> Labels:
    """Cluster a graph, each connected component by itself.

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
    # Imported where it is needed, like scikit-learn: both take long.
    import networkx as nx

    weights = csr_array(weights, dtype=np.float64)
    labels: Labels = np.zeros(weights.shape[0], dtype=np.intp)
    if not len(labels):
        return labels
    if weights.shape[0] != weights.shape[1] or abs(weights - weights.T).max() > 1e-9:
        raise ValueError("weights must be a symmetric square array")
    graph = nx.from_scipy_sparse_array(weights)
    components = [sorted(each) for each in nx.connected_components(graph)]
    taken = 0
    for nodes in components:
        own = _component_clusters(graph, nodes, seed, clusters if len(components) == 1 else None)
        labels[nodes] = taken + own
        taken += int(own.max()) + 1
    return labels


def inside_shares(weights: csr_array, labels: Labels) -> NDArray[np.float64]:
    """Compute the share of each cluster's edge weight that stays inside it, 0 to 1; 0 for one without edges.

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


def _component_clusters(graph: "nx.Graph", nodes: list[int], seed: int, clusters: int | None) -> Labels:
    n = len(nodes)
    most = min(MOST_CLUSTERS, n // 2) if clusters is None else clusters
    if n <= 2 or most < 2:
        return np.zeros(n, dtype=np.intp)
    values, vectors = _embedding(graph, nodes, min(n, most + 1), seed)
    # The number of clusters lies before the widest gap between eigenvalues.
    k = clusters if clusters is not None else int(np.argmax(np.diff(values))) + 1
    if k < 2:
        return np.zeros(n, dtype=np.intp)
    from sklearn.cluster import KMeans
    from sklearn.preprocessing import normalize

    # Starting threads would take longer than the work of most components.
    with _threads().limit(limits=1):
        found = KMeans(k, n_init=RESTARTS, random_state=seed).fit_predict(normalize(vectors[:, :k]))
    return np.unique(found, return_inverse=True)[1].astype(np.intp)


def _embedding(
    graph: "nx.Graph", nodes: list[int], count: int, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The smallest eigenvalues of the normalised Laplacian, rising, and their eigenvectors."""
    import networkx as nx

    laplacian, n = nx.normalized_laplacian_matrix(graph, nodelist=nodes), len(nodes)
    values: NDArray[np.float64]
    vectors: NDArray[np.float64]
    if n < DENSE_BELOW or count >= n - 1:
        values, vectors = eigh(laplacian.toarray(), subset_by_index=(0, count - 1))
        return values, vectors
    # Large eigenvalues converge fast: the smallest ones of L are the largest ones of 1 - L.
    start = np.random.default_rng(seed).standard_normal(n)
    values, vectors = eigsh(eye_array(n) - laplacian, count, which="LA", v0=start, tol=TOLERANCE)
    order = np.argsort(-values)
    return 1.0 - values[order], vectors[:, order]


@cache
def _threads() -> ThreadpoolController:
    """The thread pools of this process, once scikit-learn is loaded."""
    return ThreadpoolController()
