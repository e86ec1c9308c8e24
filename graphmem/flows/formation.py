"""Memory formation, from a message of a turn or an observation: read, ask the mind, plan, write (spec 7).

Nothing is decided while writing, no model is asked inside a transaction, and the one write of a source takes
effect once, since it finishes the source's job.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import numpy as np

from graphmem.app import Graphmem
from graphmem.cache import OpenMemories
from graphmem.errors import Locked
from graphmem.flows.facts import NEAREST, known_facts, learned
from graphmem.flows.formation_plan import (
    Marked,
    MessageScores,
    Reading,
    known_items,
    planned_formation,
    with_lawful_instruction,
    with_speaker,
)
from graphmem.flows.ledger import keep_heard_danger, new_entry, noted_danger, noted_draft, standing_level
from graphmem.flows.lesson_plan import WorkDone, heading, is_work, with_lesson
from graphmem.flows.observation import observe
from graphmem.flows.overlay import fog_of
from graphmem.flows.session_cache import known_readings, open_memories, with_feedback, write_planned
from graphmem.flows.surprise import with_response
from graphmem.language.analysis import (
    PASSES,
    MessageAnalysis,
    domain_of,
    entities_of,
    explains_work,
    passes,
    work_chance,
)
from graphmem.maths import importance, surprise
from graphmem.maths.importance import SNR_CEILING
from graphmem.model import (
    Danger,
    Fact,
    Heard,
    LedgerCategory,
    LedgerEntry,
    Lesson,
    MemoryKind,
    Mismatch,
    Modality,
    Note,
    NotePlace,
    Notes,
    Observation,
    Remember,
    Session,
    Source,
    SourceKind,
    Usage,
    Vector,
)
from graphmem.sealing import StudentLock, keyed_hash
from graphmem.store import jobs, students, uncertainties
from graphmem.store.changes import Changes, New, Topic
from graphmem.store.nodes import batches
from graphmem.store.sources import observed_id, observed_key
from graphmem.text.chunks import answers_question
from graphmem.text.doc import Doc, doc_of, information
from graphmem.text.normalize import cleaned, own_words, said, spoken_lines
from graphmem.text.revision import retractions, slot_key, tells_attribute
from graphmem.validation import PAGE_SIZE, in_zone

INFORMED = 0.7
"""Exponent by which the information of a text that somebody chose to have remembered becomes its share of the SNR.

So 99 % of the turns of LoCoMo that a question is about are kept."""
GRAVE = PASSES[-1]
"""SNR of what tells of danger, at least."""


@dataclass(frozen=True)
class Input:
    """A job with the source to form memories from, and what was said.

    key : what their ids are made with
    scores : of a message when it was said; None for an observation
    danger : that it tells of
    kept : the danger has its ledger entry
    tells : false of a message that is only checked for the ledger
    begins : an episode begins with it
    false_alarm : no mind finds danger in it any more
    """

    claimed: jobs.Claimed
    key: str
    source: Source
    heard: Heard
    scores: MessageScores | None = None
    danger: Danger | None = None
    kept: bool = False
    false_alarm: bool = False
    tells: bool = True
    begins: bool = False


@dataclass(frozen=True)
class Scored:
    """A source that was scored, with what the encoder tells of it, and the embedding of its text."""

    input: Input
    snr: int
    scores: MessageScores
    read: MessageAnalysis = field(repr=False)
    vector: Vector = field(repr=False)


@dataclass(frozen=True)
class OwnNotes:
    """The notes of one message among those of an answer.

    place : of the message in the question
    by : name of the mind that wrote them
    formed : memories of the notes of the messages before it; grows with each
    stands_in : another mind has answered for the configured one
    """

    place: int
    answer: Notes = field(repr=False)
    by: str
    formed: dict[NotePlace, str]
    stands_in: bool

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes of the message."""
        return self.answer.of[self.place]

    @property
    def linked(self) -> bool:
        """True if the mind has named every effect on what is known."""
        return self.answer.linked

    @property
    def lesson(self) -> Lesson | None:
        """Lesson that the message taught."""
        return next((lesson for place, lesson in self.answer.learned if place == self.place), None)

    @property
    def question(self) -> str:
        """Question to the student, with the last message."""
        return self.answer.question if self._is_last else ""

    @property
    def teach(self) -> str:
        """The way to teach, with the last message."""
        return self.answer.teach if self._is_last else ""

    @property
    def _is_last(self) -> bool:
        # What belongs to the talk as a whole is kept with the last message of which there are notes.
        places = [place for place, notes in enumerate(self.answer.of) if notes]
        return self.place == (places[-1] if places else len(self.answer.of) - 1)


async def form_messages(gm: Graphmem, session: Session, claimed: Sequence[jobs.Claimed]) -> int:
    """Form memories from some messages of one talk, which a language model reads in one question.

    Returns
    -------
    int, how many jobs took effect; not those that another worker has taken over
    """
    return await _form_each(gm, session, [await _message_input(gm, session, each) for each in claimed])


async def form_observations(gm: Graphmem, session: Session, claimed: Sequence[jobs.Claimed]) -> int:
    """Form memories from some observations, as `form_messages` does."""
    enrolled = await students.find_enrolled(gm.graph, session, gm.clock())
    if enrolled is None:
        raise Locked
    return await _form_each(
        gm, session, [await _observation_input(gm, session, enrolled.lock, each) for each in claimed]
    )


async def _message_input(gm: Graphmem, session: Session, claimed: jobs.Claimed) -> Input:
    job = jobs.opened_payload(session, claimed)
    key = str(claimed.seq)
    source = Source(f"source-{claimed.seq}", SourceKind.CHAT, job.turn_id, job.at.astimezone(UTC))
    at = in_zone(job.at, session.time_zone)
    text = await _own_words(gm, session, job.turn_id, job.text, at)
    heard = Heard(
        text,
        at,
        before=job.before,
        reply=job.reply,
        task=job.task,
        asks=job.asks,
        violated=None if job.predicted is None else Mismatch(job.predicted, job.text),
        doc=Doc(text),
    )
    level = await standing_level(gm, session, key, job.level, job.own_level)
    scores = MessageScores(job.importance, job.surprise, level, job.activity, job.features)
    kept = job.danger is not None
    return Input(claimed, key, source, heard, scores, job.danger, kept, job.false_alarm, job.tells, job.begins)


async def _own_words(gm: Graphmem, session: Session, ref: str, text: str, at: datetime) -> str:
    """Return a message without what others say in it, where it is a transcript; that is observed as theirs, once."""
    lines = spoken_lines(text)
    if not lines:
        return text
    own, others = own_words(text, lines, (await open_memories(gm, session)).name)
    said = [
        Observation(SourceKind.CHAT, f"{ref}-line-{each.start}", text[each.start : each.end], at, each.speaker)
        for each in others[:PAGE_SIZE]
    ]
    if said:
        await observe(gm, session, said)
    return own


async def _observation_input(gm: Graphmem, session: Session, lock: StudentLock, claimed: jobs.Claimed) -> Input:
    observed = jobs.opened_observation(session, lock, claimed)
    if observed.kind is SourceKind.CHAT and observed.speaker is None:
        text = await _own_words(gm, session, observed_key(observed), observed.text, observed.at)
        observed = replace(observed, text=text)
    source = Source(observed_id(observed), observed.kind, observed.ref, observed.at.astimezone(UTC))
    doc = Doc(observed.text)
    at = in_zone(observed.at, session.time_zone)
    heard = Heard(observed.text, at, observed.kind, observed.speaker, observed.before, observed=True, doc=doc)
    return Input(claimed, observed_key(observed), source, heard, danger=observed.danger)


async def _form_each(gm: Graphmem, session: Session, inputs: Sequence[Input]) -> int:
    """As many together as the mind reads in one question, so that each knows what came of those before."""
    return sum([await _form(gm, session, some) for some in batches(inputs, gm.mind.together)])


async def _form(gm: Graphmem, session: Session, inputs: Sequence[Input]) -> int:
    held = await open_memories(gm, session)
    scored = [await _scored(gm, session, held, each) for each in inputs]
    answer = await gm.mind.ask(await _question(gm, session, held, scored))
    usage, written, formed = answer.usage, 0, dict[NotePlace, str]()
    by = gm.offline.name if answer.degraded else gm.mind.name
    for place, each in enumerate(scored):
        # What was asked about several messages is counted with the first.
        finished = jobs.Finished(each.input.claimed, usage, gm.settings.facts_kept)
        own = OwnNotes(place, answer.value, by, formed, answer.degraded)
        written += await _write_notes(gm, session, finished, each, own)
        usage = Usage()
    return written


async def _question(gm: Graphmem, session: Session, held: OpenMemories, scored: Sequence[Scored]) -> Remember:
    """Return the question about some messages, with what is kept near them."""
    heard = tuple(each.input.heard for each in scored)
    ledger = [kept.entry for kept in held.ledger]
    facts, asked = await known_facts(gm, session), await uncertainties.list_open_questions(gm.graph, session)
    known = known_items(
        [each.vector for each in scored],
        held.index,
        ledger,
        facts,
        heard[-1].at,
        lambda text: said_hash(session, None, text),
    )
    return Remember(heard, known, tuple(question.text for question in asked))


async def _scored(gm: Graphmem, session: Session, held: OpenMemories, given: Input) -> Scored:
    heard = given.heard
    (read,), (vector,) = await gm.read([heard.text], known_readings(gm, session))
    feeling = importance.emotion(*affect_of(gm, doc_of(heard), vector))
    nearest = await asyncio.to_thread(held.index.nearest, vector, 1)
    novelty = 1.0 - max(0.0, nearest[0][1]) if nearest else 1.0
    # Danger is band three (spec 20).
    danger = given.danger
    violated = None if heard.violated is None else replace(heard.violated, reading=read)
    heard = replace(heard, before=heard.before or _before(held, given.source), student=held.name, violated=violated)
    said = replace(given, heard=heard)
    score = _snr(said, read) if danger is None or not danger.sure else max(read.snr, GRAVE)
    heard = replace(heard, passes=passes(score), reading=read)
    scores = given.scores or MessageScores(_importance(novelty, feeling))
    return Scored(replace(said, heard=heard), score, scores, read, vector)


def _snr(said: Input, read: MessageAnalysis) -> int:
    """Return how much there is to remember: of what somebody chose to have remembered also what its words tell.

    What only a statement of the message shows is read once: praise beside one must not hide it.
    """
    if not said.tells:
        return min(read.snr, PASSES[0] - 1)
    if said.heard.observed:
        return max(read.snr, int(SNR_CEILING * information(said.heard.text) ** INFORMED))
    # A home or an age is worth remembering however plainly it is told, and so is a step that its tutor may judge.
    doc = doc_of(said.heard)
    judged = bool(said.heard.task and said.heard.reply.strip()) and explains_work(read, has_task=True)
    least = PASSES[0] if judged or tells_attribute(doc) or answers_question(doc, said.heard.before) else 0
    best = max((least, *(each.snr for each in read.statements)))
    return max(read.snr, min(best, PASSES[1] - 1))


async def _write_notes(gm: Graphmem, session: Session, finished: jobs.Finished, scored: Scored, own: OwnNotes) -> bool:
    """Plan and write, again when memories changed meanwhile; False when the job is another worker's by now."""
    found = await _without_danger(gm, session, scored.input, own.notes)
    found = [with_lawful_instruction(note, scored.input.heard) for note in found]
    reading = await _computed_reading(gm, session, scored, own, found)
    work_done = None if own.linked else await _work_done(gm, session, scored)
    ids: tuple[str, ...] = ()

    async def planned(held: OpenMemories) -> Changes:
        nonlocal ids
        formed = await asyncio.to_thread(
            planned_formation, reading, held.index, held.version, held.doubts, held.tolerance
        )
        ids = formed.ids
        changes = await with_feedback(gm, session, formed.changes, held)
        changes = await asyncio.to_thread(with_lesson, changes, reading, work_done, held.index)
        changes = changes.plus(*await _learned(gm, session, reading, held))
        changes = with_response(changes, reading, held.index)
        return changes.plus(*await topics_of(gm, session, changes.of(New)))

    # What stems from what ends is planned with the notes.
    if await write_planned(gm, session, planned, finished, stems=False) is None:
        return False
    own.formed.update({NotePlace(own.place, i): memory_id for i, memory_id in enumerate(ids)})
    return True


async def _learned(gm: Graphmem, session: Session, reading: Reading, held: OpenMemories) -> tuple[Fact, ...]:
    """Return the fact that a violated expectation taught, where nothing says it already."""
    lesson = reading.lesson
    if lesson is None:
        return ()
    facts = await known_facts(gm, session)
    near = held.index.nearest((await gm.embedder.embed([lesson.text]))[0], NEAREST)
    new = learned(lesson, f"fact-t{reading.key}", reading.source.at, facts, near)
    return () if new is None else (new,)


async def topics_of(gm: Graphmem, session: Session, new: Sequence[New]) -> tuple[Topic, ...]:
    """Return the concepts that new memories are about."""
    fog = await fog_of(gm, session)
    if not fog:
        return ()
    found = ((each.memory.id, fog.topics(each.memory.words, each.vector)) for each in new)
    return tuple(
        Topic(memory_id, concept_id, chance) for memory_id, each in found for concept_id, chance in each.items()
    )


async def _without_danger(gm: Graphmem, session: Session, read: Input, notes: Sequence[Note]) -> list[Note]:
    """Return the notes, but for danger, which is kept as a concern with a ledger entry of its own."""
    danger = read.danger or (None if read.false_alarm else noted_danger(notes))
    if danger is not None and not read.kept:
        await keep_heard_danger(gm, session, read.key, read.source, read.heard.text, danger)
    return [replace(note, ledger=None) if note.ledger is LedgerCategory.THREAT else note for note in notes]


def _before(held: OpenMemories, source: Source) -> str:
    """Return the text before an observation that came alone: what was remembered last in the same sitting."""
    memory = held.index.before(source.at)
    follows = memory is not None and (source.at - memory.timestamp).total_seconds() < importance.SEGMENT_GAP
    return memory.content or "" if memory is not None and follows else ""


async def _computed_reading(
    gm: Graphmem, session: Session, scored: Scored, own: OwnNotes, notes: Sequence[Note]
) -> Reading:
    """Embed, hash and weigh what the mind noted."""
    heard = scored.input.heard
    marked = await _marked(gm, session, scored, notes)
    reading = Reading(
        key=scored.input.key,
        source=scored.input.source,
        heard=heard,
        snr=scored.snr,
        scores=scored.scores,
        notes=tuple(notes),
        marked=marked,
        entries=await _entries(gm, session, notes, marked, scored),
        inferred_by=own.by,
        linked=own.linked,
        place=own.place,
        earlier=own.formed,
        lesson=own.lesson,
        question=own.question,
        teach=await _taught(gm, session, own.teach),
        episode=None if own.linked or own.stands_in else await _episode_title(gm, session, scored),
        retracted=() if own.linked else await _retracted(gm, heard),
        valence=affect_of(gm, doc_of(heard), scored.vector)[0],
    )
    return replace(reading, clarifies=_whole_message(session, scored, reading))


async def _taught(gm: Graphmem, session: Session, teach: str) -> Marked | None:
    """Return a way to teach the student, as it is remembered."""
    if not teach:
        return None
    (reading,), (vector,) = await gm.read([teach])
    return Marked(teach, teach, vector, domain_of(reading.scores), 0.0, said_hash(session, None, teach), None)


async def _episode_title(gm: Graphmem, session: Session, scored: Scored) -> Marked | None:
    """Return the title of the episode that begins with a message; no copy of what was said (spec 7)."""
    begun = scored.input
    if not begun.begins:
        return None
    at = begun.heard.at
    title = heading(begun.heard.task, entities_of(scored.read)) or f"{at.day} {at:%B %Y, %H:%M}"
    (reading,), (vector,) = await gm.read([title])
    # Two episodes may have one title, and are two all the same.
    content_hash = said_hash(session, None, f"{begun.claimed.id} {title}")
    valence, _ = affect_of(gm, Doc(title), vector)
    return Marked(title, title, vector, domain_of(reading.scores), valence, content_hash, None)


def _whole_message(session: Session, scored: Scored, reading: Reading) -> tuple[Note, Marked]:
    """The whole message as an episode, for where it clarifies a doubt; searched by the words as they were said."""
    heard = reading.heard
    note = Note(0, len(heard.text), None, Modality.EPISODIC, MemoryKind.EPISODE)
    content_hash = keyed_hash(session.keys, "content", f"clarified {reading.source.ref}\n{heard.text}")
    domain = domain_of(scored.read.scores)
    return note, Marked(heard.text, heard.text, scored.vector, domain, reading.valence, content_hash, None)


async def _retracted(gm: Graphmem, heard: Heard) -> tuple[Vector | None, ...]:
    """Matters that the student asks to forget, or says are not true; None for what was said last."""
    wanted = retractions(heard.text) if heard.speaker is None and heard.kind is SourceKind.CHAT else ()
    named = [each for each in wanted if each is not None]
    vectors = iter(await gm.embedder.embed(named) if named else ())
    return tuple(None if each is None else next(vectors) for each in wanted)


async def _work_done(gm: Graphmem, session: Session, scored: Scored) -> WorkDone | None:
    """Return what a message is to a lesson; None where it is none of the student's own school work."""
    heard, chance = scored.input.heard, work_chance(scored.read.scores)
    if not (scored.input.tells and is_work(chance, heard)):
        return None
    lines = tuple(dict.fromkeys(cleaned(line) for line in (heard.before, heard.reply) if line.strip()))
    vectors = np.stack([scored.vector, *(await gm.embedder.embed(lines) if lines else ())])
    return WorkDone(chance, lines, vectors, keyed_hash(session.keys, "content", f"lesson {scored.input.source.ref}"))


async def _entries(
    gm: Graphmem, session: Session, notes: Sequence[Note], marked: Sequence[Marked], scored: Scored
) -> tuple[tuple[int, LedgerEntry, Vector], ...]:
    """Return the ledger entries of some notes, each with the place of its note."""
    drafts = [
        (place, noted_draft(note, note.ledger, with_speaker(note.entry or each.content, scored.input.heard)))
        for place, (note, each) in enumerate(zip(notes, marked, strict=True))
        if note.ledger is not None
    ]
    vectors = await gm.embedder.embed([draft.content for _, draft in drafts])
    return tuple(
        (place, new_entry(session.keys, draft, scored.input.source.at), vector)
        for (place, draft), vector in zip(drafts, vectors, strict=True)
    )


async def _marked(gm: Graphmem, session: Session, scored: Scored, notes: Sequence[Note]) -> tuple[Marked, ...]:
    """Content of some notes, with what is computed of it."""
    heard = scored.input.heard
    words = [cleaned(heard.text[note.start : note.end]) for note in notes]
    contents = [said if note.statement is None else note.statement for note, said in zip(notes, words, strict=True)]
    # Others' talk is searched by its own words, which find it best.
    vectors = await gm.embedder.embed(words if heard.observed else contents)
    return tuple(
        Marked(
            content,
            said,
            vector,
            domain_of(scored.read.scores_at(note.start, note.end)),
            affect_of(gm, Doc(content), vector)[0],
            said_hash(session, heard.speaker, content),
            None if note.slot is None else keyed_hash(session.keys, "slot", slot_key(note.slot)),
        )
        for note, said, content, vector in zip(notes, words, contents, vectors, strict=True)
    )


def said_hash(session: Session, speaker: str | None, content: str) -> str:
    """Return the keyed hash of what somebody said; equal for what is said alike (`said`) by the same."""
    return keyed_hash(session.keys, "content", f"{speaker or ''}\n{said(content)}")


def affect_of(gm: Graphmem, doc: Doc, vector: Vector) -> tuple[float, float]:
    """Valence in [-1, 1] and arousal in [0, 1] of a text."""
    known = vector if gm.is_shipped else None
    return gm.affect.valence(doc, known), gm.affect.arousal(doc, known)


def _importance(novelty: float, feeling: float) -> float:
    """Of an observation, which comes without a conversation: nothing is known of heat, companion and expertise."""
    values = importance.Features(0.0, 1.0, 0.0, 0.0, surprise.novelty(novelty), feeling)
    return importance.importance(values, importance.temperature(0.0))
