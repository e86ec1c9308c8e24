"""What in a message is worth remembering, how it hangs together, and what belongs into the ledger, by rule (spec 7)."""

from graphmem.model import EntityKind, Extract, Extraction, Heard, MemoryKind, Modality
from graphmem.text.discourse import content_words, relations
from graphmem.text.domains import domain_of
from graphmem.text.entities import entities
from graphmem.text.keyphrases import STOP_WORDS, is_known, key_phrases, words_of
from graphmem.text.ledger_cues import reminders
from graphmem.text.memory_types import PLAIN, READ_CHARACTERS, Sort, confidence, sort_of
from graphmem.text.sentences import cleaned, units
from graphmem.text.slots import is_state, slot_of

FEW = 3
"""Words too few to tell a language by."""
TOPICS = 3
"""Most key phrases a memory is filed under."""


def extract(heard: Heard) -> Extraction:
    """The memories of a message, their relations, and what belongs into the ledger.

    Parameters
    ----------
    heard : Heard; of `before` nothing is formed. From two passes on relations are read and clauses cut (spec 7)

    Returns
    -------
    Extraction; each memory with the span it comes from and that span's own words as content. Nothing where a message
    is only greetings, thanks and praise, or has no letter or digit. In other languages than English a memory is
    taken for knowledge, without entities or slot

    Source: spec 1, 7.

    Examples
    --------
    >>> from datetime import datetime, UTC
    >>> heard = Heard("Hi Ada! My favourite colour is teal.", datetime(2026, 1, 5, tzinfo=UTC))
    >>> [(m.start, m.end, m.content, m.kind.value, m.slot) for m in extract(heard).memories]
    [(8, 36, 'My favourite colour is teal.', 'trait', 'self favourite colour')]
    """
    memories = tuple(_memory(heard, *unit) for unit in units(heard.text, heard.passes))
    found = relations([m.content for m in memories], [m.modality is Modality.EMOTIONAL for m in memories], heard.passes)
    return Extraction(memories, found, reminders(heard))


def _memory(heard: Heard, start: int, end: int) -> Extract:
    content = cleaned(heard.text[start:end])
    if not _can_be_read(content):
        sort = Sort(Modality.SEMANTIC, MemoryKind.CONCEPT)
        return Extract(start, end, content, sort.modality, sort.kind, confidence=PLAIN, about=_topics(content))
    slot = slot_of(content, heard.speaker)
    sort = sort_of(content, lasting=is_state(slot))
    named = entities(content, heard.speaker)
    return Extract(
        start,
        end,
        content,
        sort.modality,
        sort.kind,
        domain_of(content, sort, any(entity.kind is EntityKind.PERSON for entity in named)),
        confidence(content),
        slot if sort.kind is MemoryKind.TRAIT else None,
        named,
        _topics(content),
    )


def _can_be_read(content: str) -> bool:
    """Whether the rules, which are for English, apply; to numbers and single words they always do."""
    words = [
        word.lower().split("'")[0]
        for word in words_of(content[:READ_CHARACTERS].replace("’", "'"))
        if word[0].isalpha()
    ]
    if not words or (len(words) <= FEW and content.isascii()):
        return True
    known = sum(map(is_known, words)) / len(words)
    light = sum(word in STOP_WORDS for word in words) / len(words)
    return (known >= 0.6 and light >= 0.15) or (known >= 0.8 and content.isascii())


def _topics(content: str) -> tuple[str, ...]:
    """What it is about; bare numbers are no topic."""
    phrases = key_phrases(content, 2 * TOPICS)
    return tuple(phrase for phrase in phrases if content_words(phrase))[:TOPICS]
