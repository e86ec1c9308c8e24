"""The pure half of forgetting: which texts tell what is to be forgotten, and what is left of them (spec 14)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graphmem.model import Memory, MemoryRole
from graphmem.text.doc import Doc
from graphmem.text.lexicon import STOP_WORDS
from graphmem.text.normalize import said
from graphmem.text.sentences import sentence_spans
from graphmem.text.stems import stem
from graphmem.text.words import word_rarity

RARE = 4.5
"""Rarity from which a word that nothing else remembered holds gives a matter away by itself."""
TELLING_SHARE = 0.5
"""Share of a matter's content words from which a text tells it."""
LEAST_WORDS = 2
"""Fewest content words that a text which tells a matter shares with it."""


@dataclass(frozen=True)
class Matter:
    """What is to be forgotten.

    texts : as they were said or stated, folded
    words : stems of its content words
    telling : those that are rare and that nothing else remembered holds
    """

    texts: frozenset[str]
    words: frozenset[str]
    telling: frozenset[str]

    def is_told_by(self, text: str | None) -> bool:
        """True if a text tells it: word for word, by a word that only it has, or by half of its content words.

        Examples
        --------
        >>> matter = Matter(frozenset(), frozenset({"bring", "marmalad", "otti"}), frozenset({"marmalad"}))
        >>> matter.is_told_by("And the marmalades?"), matter.is_told_by("Bring a pencil.")
        (True, False)
        """
        if not text:
            return False
        folded, words = said(text), content_stems(text)
        shared = len(words & self.words)
        enough = shared >= LEAST_WORDS and shared >= TELLING_SHARE * len(self.words)
        return bool(words & self.telling) or enough or any(each in folded for each in self.texts)


def content_stems(text: str) -> frozenset[str]:
    """The stems of a text's content words, numbers included.

    Examples
    --------
    >>> sorted(content_stems("I hid 9 jars of marmalade"))
    ['9', 'hide', 'jar', 'marmalad']
    """
    return frozenset(map(stem, _telling_words(text)))


def _telling_words(text: str) -> Iterator[str]:
    words = (word.removesuffix("'s") for word in Doc(text).plain_words)
    return (word for word in words if word[:1].isalnum() and word.split("'")[0] not in STOP_WORDS)


def matter_of(memory: Memory, others: Iterable[Memory], name: str | None) -> Matter:
    """What forgetting a memory is about.

    Parameters
    ----------
    memory : Memory, opened
    others : all that is remembered; what was made of others counts no more than they do
    name : of the student, which says nothing about the matter
    """
    own = content_stems(name or "") | content_stems("the student")
    texts = [text for text in (memory.content, memory.quote) if text]
    words = frozenset().union(*map(content_stems, texts)) - own
    known = (content_stems(each.words) for each in others if each.id != memory.id and each.role is MemoryRole.SAID)
    rare = {stem(word) for text in texts for word in _telling_words(text) if word_rarity(word) >= RARE}
    return Matter(frozenset(said(text) for text in texts), words, (words & rare) - frozenset().union(*known))


def without(matter: Matter, text: str) -> str:
    """A text without the sentences that tell a matter.

    Examples
    --------
    >>> matter = Matter(frozenset(), frozenset({"marmalad"}), frozenset({"marmalad"}))
    >>> without(matter, "Ann has a horse. She hides marmalade. She likes teal.")
    'Ann has a horse. She likes teal.'
    """
    lines = (
        " ".join(part for start, end in sentence_spans(line) if not matter.is_told_by(part := line[start:end].strip()))
        for line in text.split("\n")
    )
    return "\n".join(line for line in lines if line)


def changed_memories(matter: Matter, memory: Memory, others: Sequence[Memory]) -> tuple[list[Memory], list[str]]:
    """Memories that keep the words of one, as they are without them, and ids of summaries of which nothing is left."""
    changed, emptied = [], []
    for other in others:
        if other.id == memory.id:
            continue
        if other.role is MemoryRole.LESSON:
            after = _lesson_without(matter, other)
            if not after.quote or matter.is_told_by(after.content):
                emptied.append(other.id)
            elif after != other:
                changed.append(after)
            continue
        after = replace(other, before=None) if matter.is_told_by(other.before) else other
        if other.role is MemoryRole.SUMMARY and any(map(matter.is_told_by, _told_in(other))):
            left = without(matter, other.content or "")
            if not left:
                emptied.append(other.id)
                continue
            kept = tuple(s for s in other.statements if not matter.is_told_by(f"{s.content} {s.quote or ''}"))
            quote = without(matter, other.quote or "") or None
            after = replace(after, content=left, quote=quote, statements=kept)
        if after is not other:
            changed.append(after)
    return changed, emptied


def _lesson_without(matter: Matter, lesson: Memory) -> Memory:
    """A lesson without the lines that tell a matter."""
    quote, before = without(matter, lesson.quote or ""), without(matter, lesson.before or "")
    return replace(lesson, quote=quote, before=before or None)


def _told_in(summary: Memory) -> Iterator[str]:
    yield summary.words
    yield from (f"{each.content} {each.quote or ''}" for each in summary.statements)


SUBJECTS = ("text", "actual")
"""What the payload of a job is about: the message itself."""


def changed_payload(matter: Matter, payload: dict[str, Any]) -> dict[str, Any] | None:
    """The payload of a job without what tells a matter; None where its own message does."""
    if any(matter.is_told_by(payload.get(name)) for name in SUBJECTS):
        return None
    return {name: _kept_value(matter, name, value) for name, value in payload.items()}


def _kept_value(matter: Matter, name: str, value: Any) -> Any:
    if isinstance(value, list):
        return [each for each in value if not (isinstance(each, str) and matter.is_told_by(each))]
    told = isinstance(value, str) and name not in SUBJECTS and matter.is_told_by(value)
    return "" if told else value
