"""Extractive summaries: the statements that cover what some memories say, in few sentences (spec 13)."""

import re
from collections.abc import Sequence
from itertools import groupby

from graphmem.text.doc import Doc
from graphmem.text.likeness import gist, is_said_by
from graphmem.text.stems import stem
from graphmem.text.words import word_rarity

DIGEST_CHARACTERS = 400
"""Most characters of a summary."""
COVERED = 0.95
"""Share of what is told, weighed by rarity, from which on further statements are left out."""
_BRACKETS = re.compile(r"\s*\[[^\]]*(?:\]|$)")
"""What was shown with a message, also where its end is cut off: no part of a sentence."""


def summarised(statements: Sequence[str], subject: str | None = None) -> str:
    """A summary of statements, in their own words and order; nothing is added.

    Parameters
    ----------
    statements : 1 or more, oldest first
    subject : whom they speak of; what is said of the same subject in a row becomes one sentence

    Notes
    -----
    Greedy cover (Nemhauser, Wolsey and Fisher, 1978): again and again the statement that adds most rare words and
    numbers for its length, until nearly all is covered or there is no room.

    Examples
    --------
    >>> summarised(["Mia has a dog called Rex.", "Mia walks Rex daily.", "Mia has a dog."], "Mia")
    'Mia has a dog called Rex and walks Rex daily.'
    """
    plain = [_BRACKETS.sub("", each).strip().rstrip(".") for each in statements]
    whole = [each for each in plain if each and not each.endswith(":")] or [each.strip() for each in statements]
    told = _without_copies([each for each in whole if each])
    chosen = sorted(_covering(told)) or [0]
    return _sentences([told[i] for i in chosen], subject) if told else ""


def _without_copies(told: Sequence[str]) -> list[str]:
    """Statements but for those that another says and more; of equal ones the last stays."""
    gists = [gist(each) for each in told]
    names = [frozenset(_told(each)) for each in told]

    def is_in(i: int, j: int) -> bool:
        return names[i] <= names[j] and is_said_by(gists[i], gists[j])

    def is_said_elsewhere(i: int) -> bool:
        return any(is_in(i, j) and (j > i or not is_in(j, i)) for j in range(len(told)) if j != i)

    return [each for i, each in enumerate(told) if not is_said_elsewhere(i)]


def _covering(told: Sequence[str]) -> list[int]:
    """Places of statements that cover what all of them tell."""
    tells = [_told(each) for each in told]
    everything = {unit: weight for each in tells for unit, weight in each.items()}
    wanted, covered, chosen, room = sum(everything.values()), set[str](), list[int](), DIGEST_CHARACTERS
    while sum(everything[unit] for unit in covered) < COVERED * wanted:
        gains = {
            i: sum(w for unit, w in tells[i].items() if unit not in covered) / (20 + len(told[i]))
            for i in range(len(told))
            if i not in chosen and (not chosen or len(told[i]) + 2 <= room)
        }
        best = max(gains, key=lambda i: gains[i], default=None)
        if best is None or gains[best] <= 0:
            break
        chosen.append(best)
        covered |= tells[best].keys()
        room -= len(told[best]) + 2
    return chosen


def _told(text: str) -> dict[str, float]:
    """Stems, names and numbers of a statement with their rarity."""
    doc = Doc(text)
    names = {entity.name.casefold(): 4.0 for entity in doc.entities}
    numbers = {str(number): 4.0 for number in doc.numbers}
    rarities = {stem(word): 1.0 + word_rarity(word) for word in doc.plain_words}
    return {each: rarities.get(each, 1.0) for each in doc.stems} | names | numbers


def _sentences(chosen: Sequence[str], subject: str | None) -> str:
    """Statements as sentences; those in a row that begin with the subject as one."""
    if not subject:
        return " ".join(map(_ended, chosen))
    parts = []
    for own, group in groupby(chosen, lambda each: each.startswith(f"{subject} ")):
        found = list(group)
        if own and len(found) > 1 and not any(_joins(each) for each in found):
            *most, last = [found[0], *(each.removeprefix(f"{subject} ") for each in found[1:])]
            parts.append(f"{', '.join(most)} and {last}")
        else:
            parts += found
    return " ".join(map(_ended, parts))


def _joins(sentence: str) -> bool:
    """True if a sentence has parts already, so that another would confuse."""
    return any(mark in sentence for mark in (",", " and ", "!", "?", ":"))


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith(("!", "?", "…", "”")) else f"{sentence}."
