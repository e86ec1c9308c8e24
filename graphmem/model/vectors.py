"""Embeddings, as arrays."""

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
"""An embedding, of shape (dimension,), of length 1."""

Matrix = NDArray[np.float32]
"""Embeddings, of shape (n, dimension), each row of length 1."""
