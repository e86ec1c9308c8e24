"""Names in what a model writes, which are compared with what was said."""

from collections.abc import Iterator
from itertools import groupby

from graphmem.language.encoder import named_in
from graphmem.text.doc import Doc

_AROUND = '.,;:!?()“”"'


def names_in(text: str) -> Iterator[str]:
    """Yield what a text may name: names that the encoder finds, then words with a capital, which may be names, too.

    Examples
    --------
    >>> list(names_in("Ada has a four year old Labrador."))
    ['Ada', 'Labrador']
    """
    yield from (entity.name for entity in named_in(text))
    capitals = frozenset(Doc(text).capitals)
    words = (word.split("'")[0].strip(_AROUND) for word in text.split())
    for is_name, run in groupby(words, capitals.__contains__):
        if is_name:
            yield " ".join(run)
