"""Formation by quoting: the statements of a message that are worth keeping, as the student said them (spec 7)."""

from collections.abc import Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np

from graphmem.language.encoder import encoder_network
from graphmem.language.heads import MESSAGE
from graphmem.model import (
    Aspect,
    Extract,
    Extraction,
    Heard,
    LedgerCategory,
    MemoryKind,
    Modality,
    Reminder,
)
from graphmem.text.arithmetic import equations
from graphmem.text.certainty import STATED_CONFIDENCE, confidence, is_question
from graphmem.text.chunks import CHUNKED_WORDS, chunks
from graphmem.text.clauses import answers_question, telling_spans
from graphmem.text.comparisons import stated_comparisons
from graphmem.text.dialogue_acts import overrides
from graphmem.text.discourse import content_words, relations
from graphmem.text.doc import Doc, doc_of
from graphmem.text.language import ENGLISH, language_of
from graphmem.text.reader import MessageReading, read_now
from graphmem.text.reminders import reminders
from graphmem.text.revision import retractions
from graphmem.text.sanitize import clipped
from graphmem.text.sentences import SentenceSpan
from graphmem.text.slots import is_kept_anyway, is_state, slot_of
from graphmem.text.worth import TutoringTurn, load_worth, rejects

TOPICS = 3
"""Most key phrases a memory is filed under."""
TASK_SHOWN = 200
"""Longest part of a task that stands beside what was said at it."""
LEAST_PERSONAL = 0.12
"""Chance that a statement tells of the student's life or ways from which it is kept."""
LEAST_WORK = 0.6
"""Chance that a statement tells of the subject matter from which it is kept, outside of a task."""
SHOWN_FROM = {Aspect.MISCONCEPTION: 0.45, Aspect.UNDERSTANDING: 0.5}
"""Chance from which a turn of work shows a misconception, or an understanding."""
STEP_WORDS = 4
"""Words of a turn of work that says more than a bare step."""
WORTH = MESSAGE.heads["worth"].labels
"""What a statement may tell: nothing first, the subject matter last."""
_ASPECTS = {"plan": Aspect.PLAN, "feeling": Aspect.FEELING}


class _Kept(NamedTuple):
    """A statement that is kept: its span, what it tells, and what the reader makes of it (None of a foreign text)."""

    span: SentenceSpan
    aspect: Aspect | None = None
    reading: MessageReading | None = None
    context: str = ""


def extract(heard: Heard, readings: Sequence[MessageReading] | None = None) -> Extraction:
    """Return the statements of a message that are worth keeping, verbatim, their relations, and its ledger entries.

    Parameters
    ----------
    heard : Heard; of `before`, `reply` and `task` nothing is formed: they stand beside a statement that leans on them
    readings : of the texts of `candidate_texts(heard)`; None: they are read here, on this thread

    Returns
    -------
    Extraction; each memory's content is the words of its span. Nothing of greetings, thanks, bare answers and
    questions. A text in another language is quoted whole, sentence by sentence. Of a message without passes only
    ledger entries, and no danger

    Source: spec 1, 7.

    Examples
    --------
    >>> from datetime import datetime, UTC
    >>> heard = Heard("Hi Ada! My favourite colour is teal.", datetime(2026, 1, 5, tzinfo=UTC))
    >>> [(m.start, m.end, m.content, m.kind.value, m.slot) for m in extract(heard).memories]
    [(8, 36, 'My favourite colour is teal.', 'trait', 'self favourite colour')]
    """
    doc = doc_of(heard)
    spans = telling_spans(doc)
    readings = read_now(candidate_texts(heard)) if readings is None else readings
    stands = [not retractions(doc.text[slice(*span)]) for span in spans]
    entries = reminders(heard, list(compress(spans, stands)), list(compress(readings, stands)))
    if not heard.passes:
        # Danger is told by a detector of its own, which has found none.
        return Extraction(reminders=tuple(each for each in entries if each.category is not LedgerCategory.THREAT))
    if language_of(doc.text) not in ("", ENGLISH):
        kept = [_Kept(span) for span in chunks(doc, heard.passes)]
    elif heard.observed:
        kept = _observed(doc, heard, spans, readings, entries)
    else:
        kept = _told(doc, heard, spans, readings, entries)
    memories = tuple(_memory(each, doc, heard) for each in kept)
    pieces = [Doc(memory.content) for memory in memories]
    feelings = [memory.modality is Modality.EMOTIONAL for memory in memories]
    return Extraction(memories, relations(pieces, feelings, heard.passes) if pieces else (), entries)


def candidate_texts(heard: Heard) -> list[str]:
    """Return the statements of a message whose worth is judged, in order."""
    doc = doc_of(heard)
    return [doc.text[slice(*span)] for span in telling_spans(doc)]


def _observed(
    doc: Doc,
    heard: Heard,
    spans: Sequence[SentenceSpan],
    readings: Sequence[MessageReading],
    entries: Sequence[Reminder],
) -> list[_Kept]:
    """A message that somebody chose to have remembered: whole, in pieces where it is long."""
    if not spans:
        return []
    told = _told(doc, heard, spans, readings, entries)
    nothing = [each.chance("worth", "nothing") for each in encoder_network().scores_of(doc.text, spans)]
    best = int(np.argmin(nothing))
    first = told[0] if told else _Kept(spans[best], reading=readings[best])
    whole = (spans[0][0], spans[-1][1])
    pieces = chunks(doc) if len(doc.words) > CHUNKED_WORDS else (whole,)
    return [first._replace(span=span) for span in pieces]


def _told(
    doc: Doc,
    heard: Heard,
    spans: Sequence[SentenceSpan],
    readings: Sequence[MessageReading],
    entries: Sequence[Reminder],
) -> list[_Kept]:
    """The statements of the student's own that are kept; of work that shows something the whole message."""
    shown = aspect_at_work(doc, heard)
    if shown is not None:
        reading = readings[0] if readings else None
        task = clipped(heard.task, TASK_SHOWN) if heard.task else ""
        return [_Kept((0, len(doc.text.rstrip())), shown, reading, task)]
    kept = []
    for span, reading, scores in zip(spans, readings, encoder_network().scores_of(doc.text, spans), strict=True):
        clause = Doc(doc.text[slice(*span)])
        if is_question(clause) or clause.text.rstrip().endswith("?") or overrides(clause) or retractions(clause.text):
            continue
        _, *chances, work = scores.chances("worth").tolist()
        told = sum(chances) >= LEAST_PERSONAL or (not heard.task and work >= LEAST_WORK)
        anyway = _meets(span, entries) or is_kept_anyway(slot_of(clause))
        if told or anyway or (not heard.task and answers_question(clause, heard.before)):
            kept.append(_Kept(span, _ASPECTS.get(WORTH[1 + int(np.argmax([*chances, work]))]), reading))
    return kept


def aspect_at_work(doc: Doc, heard: Heard) -> Aspect | None:
    """Return what a turn of the student's work shows: a misconception, an understanding, or neither (None).

    Checked arithmetic, the tutor's verdict or the network: any one of them shows a misconception (spec 7). A bare step
    shows nothing.

    Examples
    --------
    >>> from datetime import datetime, UTC
    >>> heard = Heard("1/9 is bigger than 1/5 because 9 is bigger than 5", datetime(2026, 1, 5, tzinfo=UTC))
    >>> aspect_at_work(doc_of(heard), heard).value
    'misconception'
    """
    asks = doc.text.rstrip().endswith("?")
    if heard.speaker is not None or asks or len(doc.words) < STEP_WORDS:
        return None
    checked = [each.holds for each in equations(doc.text)] + [each.holds for each in stated_comparisons(doc.text)]
    if not all(checked):
        return Aspect.MISCONCEPTION
    if not (heard.task or checked):
        return None
    wrong, right = load_worth().of_turn(TutoringTurn(doc.text, heard.before, heard.reply))[1:]
    if rejects(heard.reply) or wrong >= max(right, SHOWN_FROM[Aspect.MISCONCEPTION]):
        return Aspect.MISCONCEPTION
    return Aspect.UNDERSTANDING if right >= SHOWN_FROM[Aspect.UNDERSTANDING] else None


def _meets(span: SentenceSpan, entries: Sequence[Reminder]) -> bool:
    return any(each.start < span[1] and span[0] < each.end for each in entries)


def _memory(kept: _Kept, doc: Doc, heard: Heard) -> Extract:
    """The memory of a kept statement."""
    start, end = kept.span
    words = Doc(doc.text[start:end])
    modality, kind = _sort(kept)
    slot = None if kept.reading is None else slot_of(words, heard.speaker)
    speaker = (heard.speaker or "").casefold()
    return Extract(
        start,
        end,
        words.text,
        modality,
        kind,
        STATED_CONFIDENCE if kept.reading is None else confidence(words),
        slot if kind is MemoryKind.TRAIT or is_state(slot) else None,
        tuple(entity for entity in words.entities if entity.name.casefold() != speaker),
        _topics(words),
        kept.aspect,
        context=kept.context,
    )


def _sort(kept: _Kept) -> tuple[Modality, MemoryKind]:
    """Modality and kind, as the reader sees them; what is shown at work is knowledge, a foreign text an event."""
    if kept.aspect in SHOWN_FROM:
        return Modality.SEMANTIC, MemoryKind.CONCEPT
    if kept.reading is None:
        return Modality.EPISODIC, MemoryKind.EPISODE
    return kept.reading.likely_modality, kept.reading.likely_kind


def _topics(doc: Doc) -> tuple[str, ...]:
    """Key phrases of a text, rarest first; bare numbers are no topic."""
    phrases = doc.key_phrases(2 * TOPICS)
    return tuple(phrase for phrase in phrases if content_words(Doc(phrase)))[:TOPICS]
