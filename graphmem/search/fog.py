"""What of the world is hidden from a student, and which texts would give it away (spec 11)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from graphmem.model import Memory, Vector
from graphmem.text.concepts import ConceptNames, NamedSpan, Sense, hidden_mentions, longest

HIDDEN_CHANCE = 0.3
"""Chance that a common word means a concept from which on it counts as its name; low, as a leak cannot be undone."""
MEANT_CHANCE = 0.5
"""Chance from which on a common word is taken to be about its concept."""
BLANK = "___"
"""Placeholder of a hidden name."""


@dataclass(frozen=True)
class OpenWorld:
    """The names of an institution's world, as of a version of it.

    senses : by concept id and name, of names that are common words, too
    """

    version: int
    names: ConceptNames = field(repr=False)
    senses: Mapping[tuple[str, str], Sense] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Fog:
    """A world and the concepts that a student knows: all others are hidden.

    version : of the overlay
    """

    world: OpenWorld
    known: frozenset[str] = frozenset()
    version: int = 0
    _seen: dict[str, tuple[str, bool]] = field(default_factory=dict, repr=False, compare=False)

    def __bool__(self) -> bool:
        return bool(self.world.names)

    def hidden(self, text: str) -> tuple[NamedSpan, ...]:
        """Names of hidden concepts in a text; common words are among them, whether they are meant or not."""
        return hidden_mentions(self.world.names.find(text), self.known)

    def is_meant(self, mention: NamedSpan, vector: Vector | None) -> bool:
        """True if a hidden name means its concept, given the embedding of its text; without one it does."""
        return any(self._chance(concept_id, mention, vector) >= HIDDEN_CHANCE for concept_id in mention.concept_ids)

    def topics(self, text: str, vector: Vector) -> dict[str, float]:
        """The concepts that a text is about, hidden ones too, each with the chance that it is meant.

        Parameters
        ----------
        text : str
        vector : its embedding
        """
        found: dict[str, float] = {}
        for mention in longest(self.world.names.find(text)):
            chances = {i: self._chance(i, mention, vector) for i in mention.concept_ids}
            likeliest = max(chances.values())
            if likeliest >= MEANT_CHANCE:
                found |= {i: chance for i, chance in chances.items() if chance == likeliest}
        return found

    def _chance(self, concept_id: str, mention: NamedSpan, vector: Vector | None) -> float:
        sense = None if mention.word is None else self.world.senses.get((concept_id, mention.word))
        if sense is None:
            return 1.0
        if sense.excludes(mention.is_verb):
            return 0.0
        return 1.0 if vector is None or not vector.any() else sense.chance(vector)

    def hides(self, memory: Memory, vector: Vector | None) -> bool:
        """True if a memory names a hidden concept.

        Parameters
        ----------
        memory : opened
        vector : of its content; None: unknown, so that every name counts as meant
        """
        if not self:
            return False
        seen = self._seen.get(memory.id)
        if seen is None or seen[0] != memory.content_hash:
            text = f"{memory.words}\n{memory.speaker or ''}"
            seen = memory.content_hash, any(self.is_meant(m, vector) for m in self.hidden(text))
            self._seen[memory.id] = seen
        return seen[1]


def blanked(text: str, mentions: Iterable[NamedSpan]) -> str:
    """A text with mentions blanked out.

    Examples
    --------
    >>> blanked("I like prime numbers.", [NamedSpan(("p",), 7, 20), NamedSpan(("n",), 13, 20)])
    'I like ___.'
    """
    for mention in _merged(sorted(mentions, key=lambda m: m.start)):
        text = f"{text[: mention.start]}{BLANK}{text[mention.end :]}"
    return text


def _merged(mentions: Sequence[NamedSpan]) -> list[NamedSpan]:
    """Return mentions by place, last first, overlapping ones merged."""
    merged: list[NamedSpan] = []
    for mention in mentions:
        if merged and mention.start < merged[-1].end:
            merged[-1] = replace(merged[-1], end=max(merged[-1].end, mention.end))
        else:
            merged.append(mention)
    return merged[::-1]
