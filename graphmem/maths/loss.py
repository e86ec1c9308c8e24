"""What a graph loses when it is compressed: mass, spread and links (spec 13)."""

from collections.abc import Sequence

import numpy as np


def entropy(masses: Sequence[float]) -> float:
    """Shannon entropy of masses taken as shares of their sum, in bits; 0 where there is no mass.

    Parameters
    ----------
    masses : floats, 0 or more

    Source: Shannon (1948); spec 13.

    Examples
    --------
    >>> entropy([1.0, 1.0, 1.0, 1.0]), entropy([5.0]), entropy([])
    (2.0, 0.0, 0.0)
    """
    mass = np.asarray(masses, dtype=np.float64)
    if not mass.sum():
        return 0.0
    share = mass / mass.sum()
    # What is so small that it has no share has no part in it either.
    share = share[share > 0]
    return max(0.0, float(-(share * np.log2(share)).sum()))
