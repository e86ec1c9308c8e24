"""Lessons: one memory for each piece of school work, which grows while the work goes on (spec 7).

What is said at work mostly tells nothing of the student by itself, so that nothing else is formed of it; of the whole
lesson the day, the exercise and the words are kept, by which a teacher finds it again.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from graphmem.flows.formation_plan import STRENGTH, Marked, Reading, new_memory
from graphmem.maths.importance import SEGMENT_GAP
from graphmem.model import (
    Domain,
    EdgeType,
    Entity,
    Heard,
    Memory,
    MemoryKind,
    MemoryRole,
    Modality,
    Note,
    SourceKind,
    Vector,
)
from graphmem.search.index import SearchIndex
from graphmem.store.changes import Changes, New, NewEdge, Reinforced, Rewritten, Span
from graphmem.text.doc import Doc
from graphmem.text.normalize import cleaned, clipped

BEGINS, GOES_ON = 0.8, 0.5
"""Chance that a message is school work from which a lesson begins with it, and goes on with it."""
UNTITLED_CHARACTERS = 60
"""Characters of the student's words that head a lesson of which no task is known."""
HEADING_CHARACTERS = 120
"""Longest heading."""
HEADING_NAMES = 2
"""Most names in a heading."""
MOST_CHARACTERS_KEPT = 4_000
"""Most characters of the student's words, and of the tutor's, that a lesson keeps."""
SAME_LESSON = 0.4
"""Cosine with a lesson from which work belongs to it, where no task tells: of messages in 60 lessons of MathDial 98 %
lie above it, of the first messages of other lessons 10 %."""


@dataclass(frozen=True)
class WorkDone:
    """Relation of a message to a lesson.

    chance : that it is school work, in [0, 1]
    lines : the tutor's messages just before it and in reply to it, as far as known
    vectors : embeddings of the message and of those lines, float32 array of shape (1 + len(lines), d)
    content_hash : of a lesson that begins with it
    """

    chance: float
    lines: tuple[str, ...] = field(repr=False)
    vectors: Vector = field(repr=False)
    content_hash: str


def heading(task: str, names: Sequence[Entity] = ()) -> str:
    """Return the heading of a lesson or episode; empty where nothing is named.

    Parameters
    ----------
    task : the exercise or lesson that it was about, where that is known
    names : whom and what it names

    Examples
    --------
    >>> heading("Sam sells bread. How many loaves are left?"), heading("")
    ('How many loaves are left?', '')
    """
    asked = [each.text for each in Doc(cleaned(task)).sentences if each.text.endswith("?")]
    named = ", ".join([entity.name for entity in names][:HEADING_NAMES])
    return clipped(asked[-1] if asked else cleaned(task) or named, HEADING_CHARACTERS)


def is_work(chance: float, heard: Heard) -> bool:
    """Return whether a message of the student's own is likely enough school work to be part of a lesson."""
    return chance >= GOES_ON and heard.kind is SourceKind.CHAT and heard.speaker is None and not heard.observed


def with_lesson(changes: Changes, reading: Reading, work: WorkDone | None, known: SearchIndex) -> Changes:
    """Return the changes of a message, with the lesson that it begins or that goes on with it.

    Parameters
    ----------
    changes : formed of the message besides
    reading : Reading
    work : WorkDone, None of a message that is no work
    known : SearchIndex, only read
    """
    if work is None:
        return changes
    lesson = _under_way(reading, work, known)
    if lesson is None:
        new = _begun(reading, work)
        return changes if new is None else _abstracting(changes.plus(new), new.memory.id)
    vector = known.vector(lesson.id)
    if vector is None or reading.source.ref in lesson.source_refs or len(lesson.quote or "") >= MOST_CHARACTERS_KEPT:
        return changes
    grown = _grown(lesson, reading, work)
    lines = _lines(lesson)
    changes = changes.plus(
        Reinforced(grown, _span(reading.heard)),
        Rewritten(grown, mean_vector(vector, lines, _new_rows(work, lesson))),
    )
    return _abstracting(changes, lesson.id)


def mean_vector(mean: Vector, count: int, rows: Vector) -> Vector:
    """Mean direction of some vectors, of `count` of which the mean direction is known already.

    Parameters
    ----------
    mean : float32 array of shape (d,), of length 1
    count : int >= 0
    rows : float32 array of shape (n, d), rows of length 1

    Examples
    --------
    >>> x, y = np.eye(2, dtype=np.float32)
    >>> [round(float(value), 2) for value in mean_vector(x, 3, np.stack([x, y]))]
    [0.97, 0.24]
    """
    total = count * mean + rows.sum(axis=0)
    return np.asarray(total / max(1e-9, float(np.linalg.norm(total))), dtype=np.float32)


def _under_way(reading: Reading, work: WorkDone, known: SearchIndex) -> Memory | None:
    """Return the newest lesson of the same session that the message belongs to."""
    at = reading.source.at
    for memory in known.latest(len(known)):
        if memory.role is MemoryRole.LESSON and memory.timestamp <= at:
            gap = (at - (memory.last_reinforced_at or memory.timestamp)).total_seconds()
            if gap >= SEGMENT_GAP:
                return None
            if _belongs(reading.heard.task, work, memory, known):
                return memory
    return None


def _belongs(task: str, work: WorkDone, lesson: Memory, known: SearchIndex) -> bool:
    """True if work is on the exercise of a lesson; where no task tells, if it is near in meaning or says little."""
    if task:
        return lesson.content == heading(task)
    vector = known.vector(lesson.id)
    return work.chance < BEGINS or (vector is not None and float(vector @ work.vectors[0]) >= SAME_LESSON)


def _begun(reading: Reading, work: WorkDone) -> New | None:
    """Return the memory of a lesson that begins; None where its topic cannot be determined."""
    heard, words = reading.heard, _typed(reading.heard)
    content = heading(heard.task) or clipped(words, UNTITLED_CHARACTERS)
    if work.chance < BEGINS or not content:
        return None
    vector = mean_vector(np.zeros_like(work.vectors[0]), 0, work.vectors)
    note = Note(0, len(heard.text), content, Modality.EPISODIC, MemoryKind.EPISODE, confidence=1.0)
    marked = Marked(content, cleaned(heard.text), vector, Domain.SCHOOL, reading.valence, work.content_hash, None)
    memory = replace(
        new_memory(reading, note, marked, 1, MemoryRole.LESSON),
        id=f"lesson-{reading.key}",
        before=_with_lines("", work.lines),
        # That somebody worked on it is not weighed like what they said.
        gravity=1.0,
        strength=STRENGTH,
        consolidated=True,
        quote=words[:MOST_CHARACTERS_KEPT],
    )
    return New(memory, vector, _span(heard))


def _grown(lesson: Memory, reading: Reading, work: WorkDone) -> Memory:
    heard = reading.heard
    quote = _with_lines(lesson.quote or "", [_typed(heard)])
    before = _with_lines(lesson.before or "", _new_lines(work, lesson))
    return replace(
        lesson,
        content=heading(heard.task) or lesson.content,
        quote=quote,
        before=before,
        last_accessed=max(lesson.last_accessed, reading.source.at),
        last_reinforced_at=reading.source.at,
        source_refs=(*lesson.source_refs, reading.source.ref),
    )


def _abstracting(changes: Changes, lesson_id: str) -> Changes:
    """Return the same, the lesson linked to what the student showed in it."""
    shown = [n.memory.id for n in changes.of(New) if n.memory.role is MemoryRole.SAID]
    edges = (NewEdge(lesson_id, memory_id, EdgeType.ABSTRACTS, 1.0) for memory_id in shown)
    return changes.plus(*edges)


def _new_lines(work: WorkDone, lesson: Memory) -> list[str]:
    """Return the tutor's lines that the lesson does not hold: a reply stands before the next message again."""
    held = set((lesson.before or "").split("\n"))
    return [line for line in work.lines if line not in held]


def _new_rows(work: WorkDone, lesson: Memory) -> Vector:
    new = _new_lines(work, lesson)
    places = [0, *(1 + place for place, line in enumerate(work.lines) if line in new)]
    return np.asarray(work.vectors[places], dtype=np.float32)


def _lines(lesson: Memory) -> int:
    """Return how many messages and lines a lesson is made of."""
    return sum(len(text.split("\n")) for text in (lesson.quote, lesson.before) if text)


def _with_lines(text: str, lines: Sequence[str]) -> str:
    """Return a text with further lines, as far as there is room."""
    return "\n".join(filter(None, (text, *lines)))[:MOST_CHARACTERS_KEPT]


def _typed(heard: Heard) -> str:
    """Return a message as it was typed, on one line."""
    return cleaned(heard.text)


def _span(heard: Heard) -> Span:
    return Span(0, len(heard.text))
