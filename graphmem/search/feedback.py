"""Pseudo-relevance feedback: query expansion by words of the best memories (spec 10.1)."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain

import numpy as np

from graphmem.search.scoring import inverse_frequency


def feedback_terms(
    docs: Sequence[Collection[str]],
    query: Iterable[str],
    postings: Mapping[str, Collection[int]],
    total: int,
    limit: int,
) -> dict[str, float]:
    """Terms that many of the best memories hold and few others do, with their weights.

    Parameters
    ----------
    docs : the distinct words of each of the best memories, in lower case
    query : words of the question, which are left out
    postings : the memories that hold a word, for every word of `docs`
    total : int, memories there are
    limit : int >= 0, terms wanted

    Returns
    -------
    dict of at most `limit` words that two of `docs` hold, greatest weight first, of equals by the alphabet: the share
    of `docs` that hold it times its rarity (`scoring.rarity`), above 0

    Source: pseudo relevance feedback, after Lavrenko and Croft 2001, Relevance-based language models.

    Examples
    --------
    >>> docs = [{"the", "guitar", "strings"}, {"the", "guitar", "shop"}]
    >>> postings = {"the": range(90), "guitar": range(5), "strings": range(5), "shop": range(1)}
    >>> terms = feedback_terms(docs, ["shop"], postings, total=100, limit=2)
    >>> {word: round(weight, 2) for word, weight in terms.items()}
    {'guitar': 2.91, 'the': 0.11}
    """
    counts = Counter(chain.from_iterable(docs))
    for word in query:
        counts.pop(word.lower(), None)
    words = [word for word in counts if counts[word] > 1]
    idf = inverse_frequency(np.array([len(postings[word]) for word in words], dtype=np.int64), total)
    weights = {word: counts[word] / len(docs) * float(each) for word, each in zip(words, idf, strict=True)}
    return {word: weights[word] for word in sorted(weights, key=lambda word: (-weights[word], word))[:limit]}
