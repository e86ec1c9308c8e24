"""The chance that of two statements of one student the older holds no longer, as a small network sees it (spec 7, 12).

`scripts/train/ending.py` makes it; its figures lie beside the weights.
"""

from pathlib import Path

from graphmem.maths.chances import logistic
from graphmem.text.pair_network import load_pair_network

ENDING_FOLDER = Path(__file__).with_name("weights") / "ending"


def ended_chance(new: str, old: str, folder: Path = ENDING_FOLDER) -> float:
    """The chance that an older statement holds no longer.

    Parameters
    ----------
    new : str, what the student says now, in the student's own words
    old : str, what is remembered
    folder : of the network

    Returns
    -------
    float in (0, 1)

    Raises
    ------
    SetupError      a file of the network is missing or damaged

    Examples
    --------
    >>> moved = ended_chance("We moved to Leeds.", "The student lives in Hamburg.")
    >>> moved > ended_chance("My cat had kittens.", "The student lives in Hamburg.")
    True
    """
    return logistic(load_pair_network(folder).logit(new, old))
