"""Files of weights that the scripts train."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.lib.npyio import NpzFile

from graphmem.errors import SetupError


@contextmanager
def opened_weights(path: Path) -> Iterator[NpzFile]:
    """Arrays of a file of weights, by name, to be read inside the `with` block.

    Raises
    ------
    SetupError      the file is missing or damaged, or lacks an array that the block asks for
    """
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            yield file
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        raise SetupError(f"The weights in {path} cannot be loaded ({error}): install graphmem again.") from error
