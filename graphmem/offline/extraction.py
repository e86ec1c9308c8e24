"""Memory extraction by rule: the memories of a message, their relations, its ledger entries (spec 7)."""

from typing import NamedTuple

from graphmem.model import EntityKind, Extract, Extraction, Heard, MemoryKind, Modality
from graphmem.text.chunks import chunks
from graphmem.text.discourse import content_words, relations
from graphmem.text.doc import Doc, doc_of
from graphmem.text.domains import domain_of
from graphmem.text.ledger_cues import reminders
from graphmem.text.lexicon import STOP_WORDS
from graphmem.text.memory_types import READ_WORDS, STATED_CONFIDENCE, Sort, confidence, sort_of
from graphmem.text.normalize import cleaned
from graphmem.text.slots import is_state, slot_of
from graphmem.text.words import is_known

FEW_LANGUAGE_WORDS = 3
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
    doc = doc_of(heard)
    pieces = [_piece(doc, start, end) for start, end in chunks(doc, heard.passes)]
    memories = tuple(_memory(piece, heard) for piece in pieces)
    found = relations([p.doc for p in pieces], [m.modality is Modality.EMOTIONAL for m in memories], heard.passes)
    return Extraction(memories, found, reminders(heard))


class _Piece(NamedTuple):
    """A piece of a message on one line, and its place in the message."""

    doc: Doc
    start: int
    end: int


def _piece(doc: Doc, start: int, end: int) -> _Piece:
    content = cleaned(doc.text[start:end])
    return _Piece(doc if content == doc.text else Doc(content), start, end)


def _memory(piece: _Piece, heard: Heard) -> Extract:
    doc, start, end = piece
    if not _can_be_read(doc):
        sort = Sort(Modality.SEMANTIC, MemoryKind.CONCEPT)
        return Extract(start, end, doc.text, sort.modality, sort.kind, confidence=STATED_CONFIDENCE, about=_topics(doc))
    slot = slot_of(doc, heard.speaker)
    sort = sort_of(doc, lasting=is_state(slot))
    speaker = (heard.speaker or "").casefold()
    named = tuple(entity for entity in doc.entities if entity.name.casefold() != speaker)
    return Extract(
        start,
        end,
        doc.text,
        sort.modality,
        sort.kind,
        domain_of(doc, sort, any(entity.kind is EntityKind.PERSON for entity in named)),
        confidence(doc),
        slot if sort.kind is MemoryKind.TRAIT else None,
        named,
        _topics(doc),
    )


def _can_be_read(doc: Doc) -> bool:
    """True if the rules, which are for English, apply; to numbers and single words they always do."""
    words = [word.split("'")[0] for word in doc.plain_words[:READ_WORDS] if word[0].isalpha()]
    if not words or (len(words) <= FEW_LANGUAGE_WORDS and doc.text.isascii()):
        return True
    known = sum(map(is_known, words)) / len(words)
    light = sum(word in STOP_WORDS for word in words) / len(words)
    return (known >= 0.6 and light >= 0.15) or (known >= 0.8 and doc.text.isascii())


def _topics(doc: Doc) -> tuple[str, ...]:
    """Topics of a text, from its key phrases; bare numbers are no topic."""
    phrases = doc.key_phrases(2 * TOPICS)
    return tuple(phrase for phrase in phrases if content_words(Doc(phrase)))[:TOPICS]
