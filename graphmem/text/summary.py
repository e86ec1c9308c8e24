"""Extractive summaries: the statements that cover what some memories say, in their own words (spec 13)."""

from collections.abc import Mapping, Sequence

from graphmem.model import ANYONE, Digest, Memory
from graphmem.text.doc import Doc
from graphmem.text.normalize import clipped
from graphmem.text.stems import stem
from graphmem.text.words import word_rarity

DIGEST_CHARACTERS = 400
"""Most characters of a summary."""
LEAST_WORTH = 0.25
"""Share of what the first statement adds, for its length, that a further one adds at least."""
SHORT = 80
"""Characters from which on the length of a statement counts against it."""
NUMBER_RARITY, MOST_RARITY = 4.0, 5.0
"""What a number counts, and the most that a word counts."""


def summarised(statements: Sequence[str]) -> Digest:
    """Return the statements that say most together, in their order; nothing is added.

    Parameters
    ----------
    statements : 1 or more, oldest first

    Returns
    -------
    Digest of at most `DIGEST_CHARACTERS`

    Notes
    -----
    Greedy cover (Nemhauser, Wolsey and Fisher, 1978): again and again the statement that adds most rare words and
    numbers for its length, until little is added or there is no room.

    Examples
    --------
    >>> digest = summarised(["I have a rabbit called Rex.", "i feed Rex carrots", "I have a rabbit."])
    >>> digest.text, digest.says
    ('I have a rabbit called Rex. / i feed Rex carrots', (0, 1))
    """
    tells = [_rarities(each) for each in statements]
    chosen, covered, room, least = list[int](), set[str](), DIGEST_CHARACTERS, 0.0
    while True:
        gains = {
            place: _worth({unit: rarity for unit, rarity in own.items() if unit not in covered}, statements[place])
            for place, own in enumerate(tells)
            if place not in chosen and (not chosen or len(statements[place]) + 3 <= room)
        }
        # Of two that add alike the one that says more: "a rabbit called Rex" rather than "a rabbit".
        best = max(gains, key=lambda place: gains[place] * _worth(tells[place], statements[place]), default=None)
        if best is None or (chosen and gains[best] < max(least, 1e-9)):
            break
        chosen.append(best)
        covered |= tells[best].keys()
        room -= len(statements[best]) + 3
        least = least or LEAST_WORTH * gains[best]
    chosen.sort()
    return Digest(clipped(" / ".join(statements[place] for place in chosen), DIGEST_CHARACTERS), tuple(chosen))


def summarised_memories(memories: Sequence[Memory]) -> Digest:
    """Return the summary of some opened memories, oldest first."""
    return summarised([memory.content or "" for memory in memories])


def subject_of(memories: Sequence[Memory], student: str | None) -> str:
    """Return whom the statements of some memories of one speaker speak of."""
    return memories[0].speaker or student or ANYONE


def _rarities(text: str) -> dict[str, float]:
    """Stems and numbers of a statement, with how rare they are."""
    doc = Doc(text)
    rarities = {stem(word): min(MOST_RARITY, word_rarity(word)) for word in doc.plain_words}
    return {each: rarities.get(each, 1.0) for each in doc.stems} | {str(n): NUMBER_RARITY for n in doc.numbers}


def _worth(tells: Mapping[str, float], text: str) -> float:
    """What a statement tells, for its length."""
    return sum(tells.values()) / (SHORT + len(text))
