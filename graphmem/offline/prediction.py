"""Expectation of a student's next message: from memory, or from like situations of others, else none (spec 4)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from graphmem.model import Matrix, Remembered, Vector
from graphmem.offline.exemplars import Bank, situation_point
from graphmem.text.contradiction import about_odds, answer_fitness, telling_stems
from graphmem.text.doc import Doc, rarest_word
from graphmem.text.words import word_rarity

EXPECTED_CHARACTERS = 1_000
"""Characters of an expected answer; an embedding takes in no more."""
ANSWERS_SURELY = -0.1
"""Fitness from which a memory is what the student will answer: that of a quotation which surely answers a question."""
EXEMPLARS_COMPARED = 20
"""Nearest situations of other students whose answers are compared."""
LIKE_SITUATION = 0.6
"""Cosine of the nearest situation from which its answers are expected: below it nothing is foreseen. Of 220 situations
of the bank, each without its own dialogue, 59 % have one, of which 21 % came true (the student's message before: 18 %,
one drawn by lot: 1 %)."""
ASKED_WEIGHT, BANK_WIDTH = 0.8, 0.15
"""Weight of what was asked beside the others' answers, and similarity by which their weights fall by e."""


@dataclass(frozen=True)
class Expected:
    """An answer that is expected, with its embedding; None where it is not embedded yet."""

    text: str
    embedding: Vector | None = None


def expected_answer(
    bank: Bank, asked: str, vector: Vector, known: Sequence[str] = (), vectors: Matrix | None = None
) -> Expected | None:
    """Return what a student is likely to answer; None where nothing is foreseen.

    Parameters
    ----------
    bank : what other students answered
    asked : what was said to the student last
    vector : float32 array of shape (dimension,), of length 1, the embedding of that
    known : statements of the student that may answer it
    vectors : their embeddings

    Returns
    -------
    Expected: a statement of the student's memory where it answers what was asked, else the medoid of what others
    answered in the 20 nearest situations. Never a message of the running conversation: that would be a parrot

    Source: spec 4.

    Examples
    --------
    >>> from graphmem.offline.exemplars import Situation
    >>> unit = np.eye(2, dtype=np.float32)
    >>> bank = Bank((Situation("d", "What is 3 + 4?", "", "7"),), situation_point(unit[0], 0 * unit[0])[None], unit[:1])
    >>> expected_answer(bank, "What is 3 + 4?", unit[0]).text
    '7'
    >>> expected_answer(bank, "How was your day?", unit[1]) is None
    True
    """
    own = None if vectors is None or not known else _of_memory(asked, known, vectors @ vector)
    return own or _of_others(bank, vector)


def own_statements(remembered: Remembered) -> list[str]:
    """Return what the student said that is remembered, and may be said again where somebody asks for it."""
    recalled = (*remembered.profile, *remembered.memories)
    return [each.memory.content or "" for each in recalled if each.memory.is_own_word and each.memory.content]


def _of_memory(asked: str, known: Sequence[str], cosines: Vector) -> Expected | None:
    """The remembered statement that answers what was asked, if one surely does."""
    stems = telling_stems(Doc(asked))
    about = [about_odds(stems, text, float(cosine)) for text, cosine in zip(known, cosines, strict=True)]
    fitness = answer_fitness(asked, known, about)
    best = int(np.argmax(fitness))
    return Expected(known[best][:EXPECTED_CHARACTERS]) if fitness[best] >= ANSWERS_SURELY else None


def _of_others(bank: Bank, asked: Vector) -> Expected | None:
    """The medoid of what other students answered in like situations."""
    rows, similarities = bank.nearest(situation_point(asked, np.zeros_like(asked)), EXEMPLARS_COMPARED)
    if not len(rows) or similarities[0] < LIKE_SITUATION:
        return None
    answers = bank.answers[rows]
    weights = np.exp((similarities - similarities[0]) / BANK_WIDTH)
    centre = ASKED_WEIGHT * asked + weights @ answers / weights.sum()
    best = int(np.argmax(answers @ centre))
    return Expected(bank.situations[rows[best]].answer[:EXPECTED_CHARACTERS], answers[best])


def keywords(docs: Iterable[Doc], limit: int) -> tuple[str, ...]:
    """Return the key phrases of some texts, or else their rarest word; empty only where there is no letter or digit.

    Parameters
    ----------
    docs : the most important one first; each of the others adds at most half of `limit`
    limit : int >= 1, most keywords

    Returns
    -------
    tuple of str, none empty, none twice; bare numbers only where there is nothing else

    Examples
    --------
    >>> keywords([Doc("I got 12 spoons = 12"), Doc("How many spoons did Julia buy?")], 8)
    ('12 spoons', 'spoons', 'Julia buy')
    >>> keywords([Doc("12")], 8), keywords([Doc("is it so?")], 8), keywords([Doc(":-)")], 8)
    (('12',), ('so',), ())
    """
    docs = list(docs)
    if phrases := _phrases(docs, limit):
        return phrases
    words = [word for doc in docs if (word := rarest_word(doc.shown.excerpt.words))]
    return (max(words, key=word_rarity),) if words else ()


def _phrases(docs: Sequence[Doc], limit: int) -> tuple[str, ...]:
    """The key phrases of some texts, bare numbers only where there is nothing else."""
    found: dict[str, str] = {}
    for i, doc in enumerate(docs):
        for phrase in doc.shown.key_phrases(limit if i == 0 else max(1, limit // 2)):
            found.setdefault(phrase.casefold(), phrase)
    named = [phrase for phrase in found.values() if _is_named(phrase)]
    return tuple((named or list(found.values()))[:limit])


def _is_named(phrase: str) -> bool:
    return any(c.isalpha() for c in phrase)
