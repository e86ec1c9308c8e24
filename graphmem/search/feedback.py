"""Words that the best memories for a question have in common, to be asked for too (spec 10.1)."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain

import numpy as np

from graphmem.search.scoring import rarity


def echoes(
    heard: Sequence[Collection[str]],
    asked: Iterable[str],
    holding: Mapping[str, Collection[int]],
    total: int,
    most: int,
) -> dict[str, float]:
    """Words many of the best memories hold and few others do, with what each is worth.

    Parameters
    ----------
    heard : the distinct words of each of the best memories, in lower case
    asked : words of the question, which are left out
    holding : the memories that hold a word, for every word of `heard`
    total : int, memories there are
    most : int >= 0, words wanted

    Returns
    -------
    dict of at most `most` words that two of `heard` hold, most worth first, of equals by the alphabet: the share of
    `heard` that hold it times its rarity (`maths.ranking.rarity`), above 0

    Source: pseudo relevance feedback, after Lavrenko and Croft 2001, Relevance-based language models.

    Examples
    --------
    >>> heard = [{"the", "guitar", "strings"}, {"the", "guitar", "shop"}]
    >>> holding = {"the": range(90), "guitar": range(5), "strings": range(5), "shop": range(1)}
    >>> {word: round(worth, 2) for word, worth in echoes(heard, ["shop"], holding, total=100, most=2).items()}
    {'guitar': 2.91, 'the': 0.11}
    """
    told = Counter(chain.from_iterable(heard))
    for word in asked:
        told.pop(word.lower(), None)
    words = [word for word in told if told[word] > 1]
    rare = rarity(np.array([len(holding[word]) for word in words], dtype=np.int64), total)
    worth = {word: told[word] / len(heard) * float(each) for word, each in zip(words, rare, strict=True)}
    return {word: worth[word] for word in sorted(worth, key=lambda word: (-worth[word], word))[:most]}
