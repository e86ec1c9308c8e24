"""Which part of a student's life a clause belongs to, learned from messages and real talk (spec 2).

The reader has a guess of its own, but it has seen little ordinary talk: there it takes most for school. Made by
`scripts/make_domain.py`; the figures stand beside the weights.
"""

from functools import lru_cache
from pathlib import Path

from graphmem.model import Domain
from graphmem.text.reader import MessageReading
from graphmem.text.trained import LinearHead, opened_weights, read_head

DOMAIN_FILE = Path(__file__).with_name("weights") / "domain" / "domain.npz"


def domain_of(reading: MessageReading) -> Domain:
    """The likeliest part of a student's life.

    Examples
    --------
    >>> from graphmem.text.reader import read_now
    >>> [domain_of(each).value for each in read_now(["My sister got married in May.", "I play the trumpet in a band."])]
    ['relationships', 'hobbies']
    """
    head = load_domains()
    return Domain(head.labels[int(head.chances(reading.features).argmax())])


@lru_cache(maxsize=1)
def load_domains(path: Path = DOMAIN_FILE) -> LinearHead:
    """Read the weights, once a process.

    Raises
    ------
    SetupError      the file is missing or damaged
    """
    with opened_weights(path) as file:
        return read_head(file, "domain")
