"""Formation by quoting: the statements of a message that are worth keeping, as the student said them (spec 7)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from graphmem.language.analysis import AT_WORK, PASSES, MessageAnalysis, entities_of, explains_work
from graphmem.language.encoder import LEANS, encoder_network
from graphmem.language.heads import SHOWN, HeadScores
from graphmem.model import (
    Aspect,
    Entity,
    Heard,
    LedgerCategory,
    Link,
    MemoryKind,
    Modality,
    Note,
    NotePlace,
    Relation,
    Reminder,
    Scope,
)
from graphmem.text.chunks import CHUNKED_WORDS, answers_question, chunks, relations
from graphmem.text.doc import ENGLISH, Doc, doc_of, language_of
from graphmem.text.normalize import cleaned, clipped
from graphmem.text.quantities import equations, stated_comparisons
from graphmem.text.reminders import load_ledger_judge, overrides, reminders
from graphmem.text.revision import retractions, slot_of
from graphmem.text.words import SentenceSpan

STATED_CONFIDENCE = 0.9
"""Confidence in what a student states."""
TOPICS = 3
"""Most key phrases a memory is filed under."""
TASK_SHOWN = 200
"""Longest part of a task that stands beside what was said at it."""
LEAST_PERSONAL, LEAST_WORK = 0.2, 0.6
"""Chance that a statement tells of the student's life or ways, or outside of a task also of the subject matter, from
which it is kept."""
SURE_STRUGGLE = 0.6
"""Chance that a statement tells what is hard for the student, from which it is kept."""
SHOWN_FROM = {Aspect.MISCONCEPTION: 0.7, Aspect.UNDERSTANDING: 0.3}
"""Chance from which a turn of work that the tutor has replied to shows a misconception, or an understanding. Chosen on
the families that are learned from, each left out in turn: of turns that seem to show a misconception 9 in 10 do, and of
those that do 7 in 10 are found; of mended mistakes 3 in 5 and 3 in 4, and what else seems to be one is a right turn."""
UNJUDGED_FROM = 0.5
"""The same of a turn of which the tutor has said nothing."""
SURE_ASPECT = 0.6
"""Chance of an aspect from which a statement has it."""
SHORT_WORDS = 3
"""Words below which a statement goes with the one that follows it."""


HAPPENED = frozenset({LedgerCategory.PROMISE, LedgerCategory.SECRET, LedgerCategory.DEBT, LedgerCategory.THREAT})
"""Categories whose entries tell of something that happened; the others of how it is."""


class StatementScores(NamedTuple):
    """A statement of a message: its span in characters, its signal to noise, and what the encoder tells of it."""

    span: SentenceSpan
    snr: int
    scores: HeadScores


def statements_of(doc: Doc, reading: MessageAnalysis | None = None) -> tuple[list[StatementScores], list[Entity]]:
    """Return the statements of a message in order, and whom and what it names.

    Parameters
    ----------
    doc : of any length; a long one is read in pieces
    reading : of the message; None: it is read here, on this thread

    Examples
    --------
    >>> found, names = statements_of(Doc("emil is moving to hamburg in march. hes my best friend"))
    >>> len(found), [(each.name, each.kind.value) for each in names]
    (2, [('emil', 'person'), ('hamburg', 'place')])
    """
    found, names = list[StatementScores](), dict[str, Entity]()
    whole = len(doc.words) <= CHUNKED_WORDS
    for start, end in ((0, len(doc.text)),) if whole else chunks(doc):
        known = reading if whole else None
        analysis = known or encoder_network(1).analyse(doc.text[start:end])
        found += (
            each._replace(span=(start + each.span[0], start + each.span[1]))
            for each in _joined(analysis, doc.text[start:end])
        )
        for named in entities_of(analysis):
            names.setdefault(named.name.casefold(), named)
    return found, list(names.values())


def _joined(analysis: MessageAnalysis, text: str) -> Iterator[StatementScores]:
    """Statements with the mark that ends them; one of a word or two goes with the statement that follows it."""
    waiting: int | None = None
    for place, each in enumerate(analysis.statements):
        start = each.start if waiting is None else waiting
        last = place == len(analysis.statements) - 1
        short = len(text[each.start : each.end].split()) < SHORT_WORDS and each.scores.likely("act") != "greeting"
        ended = text[each.end : each.end + 1] in ".!?" or text[each.end - 1 : each.end] in ".!?"
        if short and not ended and not last and waiting is None:
            waiting = each.start
            continue
        waiting = None
        end = len(text[: each.end].rstrip(" ,;:-–"))
        rest = text[end:]
        marks = len(rest) - len(rest.lstrip(".!?…)"))
        yield StatementScores((start, end + marks), each.snr, each.scores)


class Extraction(NamedTuple):
    """What is found in one message: notes that quote it, their relations, and its ledger entries."""

    memories: tuple[Note, ...] = ()
    relations: tuple[Relation, ...] = ()
    reminders: tuple[Reminder, ...] = ()


class _Kept(NamedTuple):
    """A statement that is kept: its span, what it tells (None of a foreign text), and what it leans on."""

    span: SentenceSpan
    aspect: Aspect | None = None
    scores: HeadScores | None = None
    context: str = ""


def extract(heard: Heard, reading: MessageAnalysis | None = None, reply: MessageAnalysis | None = None) -> Extraction:
    """Return the statements of a message that are worth keeping, verbatim, their relations, and its ledger entries.

    Parameters
    ----------
    heard : Heard; of `before`, `reply` and `task` nothing is formed: they stand beside a statement that leans on them
    reading, reply : of its text and of the tutor's reply; None: they are read here, on this thread

    Returns
    -------
    Extraction; nothing of greetings, thanks, bare answers and questions. A text in another language is quoted whole. Of
    a message without passes only ledger entries, and no danger

    Source: spec 1, 7.

    Examples
    --------
    >>> from datetime import datetime, UTC
    >>> heard = Heard("Hi Ada! My favourite colour is teal.", datetime(2026, 1, 5, tzinfo=UTC))
    >>> [(m.start, m.end, m.kind.value, m.slot) for m in extract(heard).memories]
    [(8, 36, 'trait', 'self favourite colour')]
    """
    doc = doc_of(heard)
    found, names = statements_of(doc, reading)
    stands = [each for each in found if not retractions(doc.text[slice(*each.span)])]
    entries = reminders(heard, [each.span for each in stands], [each.scores for each in stands], names)
    if not heard.passes:
        return Extraction(reminders=entries)
    if language_of(doc.text) not in ("", ENGLISH):
        kept = [_Kept(span) for span in chunks(doc)]
    elif heard.observed:
        kept = _observed(doc, found)
    else:
        reading = reading or encoder_network(1).analyse(doc.text)
        kept = _told(doc, heard, found, entries, aspect_at_work(doc, heard, reading, reply))
    memories = tuple(_memory(each, doc, heard, names) for each in kept)
    pieces = [Doc(doc.text[memory.start : memory.end]) for memory in memories]
    feelings = [memory.modality is Modality.EMOTIONAL for memory in memories]
    return Extraction(memories, relations(pieces, feelings, heard.passes) if pieces else (), entries)


def _observed(doc: Doc, found: Sequence[StatementScores]) -> list[_Kept]:
    """A message that somebody chose to have remembered: whole, in pieces where it is long."""
    telling = [each for each in found if each.snr >= PASSES[0]] or list(found)
    if not telling:
        return []
    best = max(telling, key=lambda each: 1 - each.scores.chance("worth", "nothing"))
    pieces = chunks(doc) if len(doc.words) > CHUNKED_WORDS else ((telling[0].span[0], telling[-1].span[1]),)
    return [_Kept(span, scores=best.scores) for span in pieces]


def _told(
    doc: Doc, heard: Heard, found: Sequence[StatementScores], entries: Sequence[Reminder], shown: Aspect | None
) -> list[_Kept]:
    """The statements of the student's own that are kept; those of work that shows something, together."""
    task = clipped(heard.task, TASK_SHOWN) if heard.task else ""
    kept, before, of_work = list[_Kept](), "", (0, 0)
    if shown is not None:
        parts = [each for each in found if each.scores.chance("worth", "work") >= AT_WORK] or found
        of_work = (parts[0].span[0], parts[-1].span[1]) if parts else (0, len(doc.text.rstrip()))
        kept.append(_Kept(of_work, shown, parts[0].scores if parts else None, task))
    for (start, end), snr, scores in found:
        clause = Doc(doc.text[start:end])
        if of_work[0] <= start < of_work[1]:
            continue
        context = before if scores.chance("leans") >= LEANS else ""
        before = clause.text
        if scores.likely("act") == "question" or clause.text.endswith("?") or overrides(clause):
            continue
        aspect = None if heard.task and _aspect(scores) in SHOWN_FROM else _aspect(scores)
        work = scores.chance("worth", "work")
        personal = 1 - scores.chance("worth", "nothing") - work
        told = personal >= LEAST_PERSONAL or (not heard.task and personal + work >= LEAST_WORK) or aspect in SHOWN_FROM
        told = told or scores.chance("work", "struggle") >= SURE_STRUGGLE
        told = told and snr >= PASSES[0]
        anyway = _meets((start, end), entries) or slot_of(clause) is not None
        answers = not heard.task and answers_question(clause, heard.before)
        if (told or anyway or answers) and not retractions(clause.text):
            kept.append(_Kept((start, end), aspect, scores, task if aspect in SHOWN_FROM else context))
    return sorted(kept, key=lambda each: each.span)


def _aspect(scores: HeadScores) -> Aspect | None:
    """The aspect of a statement, where the encoder is sure of one."""
    likely = scores.likely("aspect")
    sure = likely not in ("none", "need") and scores.chance("aspect", likely) >= SURE_ASPECT
    return Aspect(likely) if sure else None


def aspect_at_work(
    doc: Doc, heard: Heard, reading: MessageAnalysis, reply: MessageAnalysis | None = None
) -> Aspect | None:
    """Return what a turn of the student's work shows: a misconception, an understanding, or neither (None).

    Checked arithmetic or the encoder, which hears the tutor's verdict, too: either shows a misconception (spec 7). A
    bare step shows nothing.

    Examples
    --------
    >>> from datetime import datetime, UTC
    >>> from graphmem.language.encoder import read_now
    >>> heard = Heard("1/9 is bigger than 1/5 because 9 is bigger than 5", datetime(2026, 1, 5, tzinfo=UTC))
    >>> aspect_at_work(doc_of(heard), heard, *read_now([heard.text])).value
    'misconception'
    """
    if heard.speaker is not None or not explains_work(reading, has_task=bool(heard.task)):
        return None
    checked = [each.holds for each in equations(doc.text)] + [each.holds for each in stated_comparisons(doc.text)]
    if not all(checked):
        return Aspect.MISCONCEPTION
    network = encoder_network(1)
    if reply is None and heard.reply.strip():
        reply = network.analyse(heard.reply)
    chances = dict(zip(SHOWN, network.shown(reading, reply), strict=True))
    needed = dict.fromkeys(SHOWN_FROM, UNJUDGED_FROM) if reply is None else SHOWN_FROM
    return next((aspect for aspect, least in needed.items() if chances[aspect] >= least), None)


def _meets(span: SentenceSpan, entries: Sequence[Reminder]) -> bool:
    return any(each.start < span[1] and span[0] < each.end for each in entries)


def _memory(kept: _Kept, doc: Doc, heard: Heard, names: Sequence[Entity]) -> Note:
    """The note of a kept statement; whom and what it names is told from the second pass on (spec 7)."""
    start, end = kept.span
    words = Doc(doc.text[start:end])
    modality, kind = _sort(kept)
    slot = None if kept.scores is None else slot_of(words, heard.speaker)
    known = {heard.speaker.casefold()} if heard.speaker else set()
    named = [each for each in names if each.name.casefold() in words.plain]
    thorough = heard.passes > 1
    return Note(
        start,
        end,
        None,
        modality,
        kind,
        kept.aspect,
        STATED_CONFIDENCE,
        context=kept.context,
        slot=slot,
        entities=tuple(each for each in named if thorough and each.name.casefold() not in known),
        about=_topics(words) if thorough else (),
    )


def _sort(kept: _Kept) -> tuple[Modality, MemoryKind]:
    """Modality and kind, as the encoder sees them; what is shown at work is knowledge, a foreign text an event."""
    if kept.aspect in SHOWN_FROM:
        return Modality.SEMANTIC, MemoryKind.CONCEPT
    if kept.scores is None:
        return Modality.EPISODIC, MemoryKind.EPISODE
    return Modality(kept.scores.likely("modality")), MemoryKind(kept.scores.likely("kind"))


def _topics(doc: Doc) -> tuple[str, ...]:
    """Key phrases of a text, rarest first; bare numbers are no topic."""
    return tuple(phrase for phrase in doc.key_phrases(2 * TOPICS) if Doc(phrase).stems)[:TOPICS]


def notes_of(found: Extraction, heard: Heard, message: int) -> tuple[Note, ...]:
    """Return the notes of a message: its memories, each with the ledger entry whose words it holds, then other entries.

    Parameters
    ----------
    found : Extraction, spans in `heard.text`
    heard : Heard
    message : int, its place in the question

    Returns
    -------
    tuple of Note

    Source: spec 7, 8.
    """
    notes = list(found.memories)
    for each in found.relations:
        target = None if each.target is None else NotePlace(message, each.target)
        link = Link(each.type, note=target, weight=each.weight, reverse=each.reverse)
        notes[each.source] = replace(notes[each.source], links=(*notes[each.source].links, link))
    for entry in found.reminders:
        ends_in = (i for i, n in enumerate(notes) if n.start < entry.end <= n.end and n.ledger is None)
        place = next(ends_in, len(notes))
        notes[place : place + 1] = [_kept(notes[place] if place < len(notes) else _alone(entry, heard), entry)]
    return tuple(notes)


def _alone(reminder: Reminder, heard: Heard) -> Note:
    """The note of a ledger entry whose words no memory holds."""
    happened, content = reminder.category in HAPPENED, reminder.content
    return Note(
        reminder.start,
        reminder.end,
        None if cleaned(content) == cleaned(heard.text[reminder.start : reminder.end]) else content,
        Modality.EPISODIC if happened else Modality.SEMANTIC,
        MemoryKind.EPISODE if happened else MemoryKind.TRAIT,
    )


def _kept(note: Note, reminder: Reminder) -> Note:
    wish = reminder.category is LedgerCategory.INSTRUCTION and load_ledger_judge().is_wish(reminder.content)
    return replace(
        note,
        ledger=reminder.category,
        entry=reminder.content,
        summary=reminder.summary,
        scope=Scope.STYLE if wish else Scope.OTHER,
        triggers=reminder.triggers,
        trigger_entities=reminder.trigger_entities,
        due=reminder.expires_at,
    )
