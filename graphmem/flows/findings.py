"""Findings about a message before it is answered: scores, contradictions, recalled memories (spec 3 to 6)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from graphmem.app import Graphmem
from graphmem.flows.context import RecallRequest, SearchResult, search
from graphmem.flows.ending import standing_facts
from graphmem.flows.facts import FittingFacts, fact_vectors, fitting_facts
from graphmem.flows.session_cache import open_memories
from graphmem.flows.uncertainty import Detected, detected, takes_back_belief
from graphmem.language.analysis import BANDS, MessageAnalysis, entities_of, is_own_matter, work_chance
from graphmem.language.heads import HeadScores
from graphmem.maths import importance, surprise
from graphmem.maths.surprise import MessageParts
from graphmem.model import (
    Alternative,
    Answer,
    Attention,
    Author,
    Conversation,
    Danger,
    FalseAlarm,
    Level,
    Matrix,
    Message,
    Predict,
    Prediction,
    Session,
    State,
    StoredTurn,
    Task,
    Uncertainty,
    Unlocked,
    Vector,
)
from graphmem.ports import OnToken
from graphmem.store import turns
from graphmem.tasks import task_group
from graphmem.text import matching
from graphmem.text.affect import AffectModel
from graphmem.text.doc import Doc, doc_of
from graphmem.text.matching import MatchModel, meant_facts
from graphmem.text.pairs import Compared, pair_features
from graphmem.text.revision import retractions
from graphmem.text.safety import find_danger, without_false_alarms
from graphmem.text.topic_boundaries import SIGHT

SURPRISE_WINDOW = 50
"""Messages that a new one is compared with (spec 5)."""
GRAVE_FROM = 0.9
"""Chance from which on a message tells something grave: 84 % of 116 life events have it, and none of 200 messages of
tutoring."""
RAISING_NOTHING = ("nothing", "ordinary")
"""Weights that raise no level."""
FIRST_SHIFT = 5
"""The first message of a student that may be a paradigm shift."""
LITTLE_KNOWN = 4
"""Turns of a student after which a signal alone may be a paradigm shift (spec 5)."""
OPENER_ROW = 1
"""Row of the opener among the embeddings of the incoming texts."""
SURELY_WORK = 0.7
"""Chance from which on a message is school work, and tells nothing of a life: 75 of 100 messages of tutoring have it,
and none of 116 life events."""
Embedded = TypeVar("Embedded", Message, Prediction, Prediction | None)


@dataclass(frozen=True)
class Sensed:
    """Outputs of the models for a message.

    emotion : float in [0, 1], strength of feeling
    match : float in [0, 1], chance that the prediction came true; None where there was none
    parrot : match of the student's own message before, taken as a prediction; None where there was none
    likely : float in (0, 1], how likely the alternative that came nearest was thought, against the likeliest
    told : float in [0, 1], the chance that its content is grave: of band three
    """

    emotion: float = 0.0
    match: float | None = None
    parrot: float | None = None
    likely: float = 1.0
    told: float = 0.0


@dataclass(frozen=True)
class Senses:
    """The models, and whether embeddings are of the shipped model, which they were made for."""

    affect: AffectModel
    matches: MatchModel
    shipped: bool

    def of(
        self,
        message: Message,
        reading: MessageAnalysis,
        before: Message | None,
        expected: Prediction | None,
        previous: Message | None = None,
    ) -> Sensed:
        """Sense a message.

        Parameters
        ----------
        message : Message, with embedding
        reading : MessageAnalysis, of the message
        before : Message that it answers, if any
        expected : Prediction, with embeddings; None where nothing was foreseen in this session
        previous : Message, the student's own before it in this session, if there is one
        """
        said = self._compared(message)
        nothing = np.zeros_like(said.vector)
        # A message that nobody embedded is compared in words alone.
        asked = Compared(Doc(""), nothing) if before is None else self._compared(before, nothing)
        emotion = importance.emotion(said.valence, self.affect.arousal(said.doc, reading.vector))
        sensed = Sensed(emotion=emotion, told=reading.scores.chance("band", BANDS[-1]))
        if expected is None:
            return sensed
        foreseen = (Alternative(expected.text, expected.chance, expected.embedding), *expected.alternatives)
        repeated = () if previous is None or previous.embedding is None else (previous,)
        # The forest judges many pairs in the time of one.
        pairs = [pair_features(asked, self._compared(each), said) for each in (*foreseen, *repeated)]
        chances = self.matches.chances(np.stack(pairs))
        best = int(np.argmax(chances[: len(foreseen)]))
        return replace(
            sensed,
            match=chances[best],
            parrot=chances[-1] if repeated else None,
            likely=foreseen[best].chance / max(each.chance for each in foreseen),
        )

    def _compared(self, of: Message | Alternative, missing: Vector | None = None) -> Compared:
        doc = doc_of(of) if isinstance(of, Message) else Doc(of.text)
        vector = missing if of.embedding is None else of.embedding
        if vector is None:
            raise ValueError("an embedding is missing")
        return Compared(doc, vector, self.affect.valence(doc, vector if self.shipped else None))


@dataclass(frozen=True)
class Score:
    """Scores of a message, computed before any mind is asked (spec 4 to 6).

    surprising : the sum that `surprise` is calibrated from
    rate : messages a minute
    parts : of message surprise, before calibration
    unusual : its unusual features, as `graphmem.maths.surprise.unusual` names them
    parrot : match of the student's own message before; None where nothing was expected
    told : float in [0, 1], the chance that its content is grave
    """

    match: float | None
    surprise: float
    surprising: float
    level: Level
    importance: float
    threshold: float
    attention: tuple[Attention, ...]
    rate: float
    parts: MessageParts
    unusual: tuple[str, ...] = ()
    parrot: float | None = None
    told: float = 0.0

    @property
    def matched(self) -> bool | None:
        """True if the expectation came true; None where there was none."""
        return None if self.match is None else self.match >= matching.MATCHED


def score(
    message: Message,
    known: Sequence[Message],
    state: State,
    sensed: Sensed,
    task: Task | None = None,
    named: bool = False,
    likest: float = 0.0,
) -> Score:
    """Score a message against the conversation and the prediction.

    Parameters
    ----------
    message : Message, with embedding
    known : messages of the session, oldest first; those without an embedding are not compared in meaning
    state : State
    sensed : Sensed, outputs of the models for it
    task : Task of the talk, if known
    named : it names an entity of the student's memories
    likest : cosine of the memory nearest to it; 0 where there is none
    """
    window, vector = known[-SURPRISE_WINDOW:], vector_of(message)
    parts = _surprise_parts(message, window, task)
    error = None if sensed.match is None else surprise.prediction_error(sensed.match, sensed.likely)
    now = message.at.timestamp()
    # The replies come as fast as they are made: how busy it is, the student says.
    said = [m.at.timestamp() for m in window if m.author is Author.STUDENT]
    rate = importance.messages_per_minute([*said, now], now)
    latest = max((m.at.timestamp() for m in window), default=now)
    distance = min(importance.distance(stacked_vectors(window, len(vector)), vector), 1.0 - likest)
    values = importance.Features(
        mentioned=float(named or matching.named(doc_of(message), [state.companion.name])),
        recency=importance.recency(now - latest),
        heat=importance.activity(rate),
        expertise=_expertise(doc_of(message), state.companion.expertise, task),
        novelty=surprise.novelty(distance),
        emotion=sensed.emotion,
    )
    warmth = importance.temperature(importance.activity(rate))
    return Score(
        match=sensed.match,
        importance=importance.importance(values, warmth),
        threshold=importance.threshold(rate),
        attention=importance.attention(values, warmth),
        rate=rate,
        parts=parts,
        parrot=sensed.parrot,
        told=sensed.told,
        **_surprised(parts, error, sensed.told, state),
    )


def judged_anew(scored: Score, match: float | None, state: State) -> Score:
    """Return the score of a message after a mind's verdict on its prediction; unchanged without one."""
    if match is None:
        return scored
    error = surprise.prediction_error(match)
    return replace(scored, match=match, **_surprised(scored.parts, error, scored.told, state))


def levelled(scored: Score, told: HeadScores | None, turns: int, *, shaken: bool) -> Score:
    """Return the score of a message, its level bounded by the weight of its content (spec 5).

    Parameters
    ----------
    scored : Score
    told : scores of the encoder's heads for the message; None where it surely carries no information
    turns : of the student before it
    shaken : whether it takes back a belief
    """
    weight, levels = "nothing" if told is None else told.likely("weight"), list(Level)
    grave_told = shaken or (told is not None and told.chance("weight", "grave") >= GRAVE_FROM)
    least = Level.COGNITIVE_DISSONANCE if grave_told else Level.NORMAL if weight in RAISING_NOTHING else Level.BOUNDARY
    early = turns + 1 < FIRST_SHIFT
    most = Level.NORMAL if weight == "nothing" else Level.PARADIGM_SHIFT
    if early and most is Level.PARADIGM_SHIFT:
        # Who introduces themselves surprises nobody.
        most = Level.BOUNDARY if weight in RAISING_NOTHING else Level.COGNITIVE_DISSONANCE
    place = max(levels.index(least), min(levels.index(scored.level), levels.index(most)))
    return replace(scored, level=levels[place])


def grave(scored: Score) -> Score:
    """Return the score raised to cognitive dissonance at least, for a grave message (spec 5)."""
    shaken = scored.level in (Level.COGNITIVE_DISSONANCE, Level.PARADIGM_SHIFT)
    return scored if shaken else replace(scored, level=Level.COGNITIVE_DISSONANCE)


def _surprised(parts: MessageParts, error: float | None, told: float, state: State) -> dict[str, Any]:
    """Return the values of a score that rest on surprise.

    Of a student who is hardly known no message is a paradigm shift by its signal alone.
    """
    surprising = surprise.combined(surprise.message_surprise(parts), error, told)
    signal = surprise.signal(surprising, state.signals)
    level = surprise.level(signal, surprise.thresholds(state.corrections))
    if level is Level.PARADIGM_SHIFT and state.turns < LITTLE_KNOWN:
        level = Level.COGNITIVE_DISSONANCE
    unusual = () if level is Level.NORMAL else surprise.unusual(parts)
    return {"surprise": signal, "surprising": surprising, "level": level, "unusual": unusual}


def _expertise(doc: Doc, topics: Sequence[str], task: Task | None) -> float:
    """Overlap of a message with the companion's expertise or with the concepts in work, whichever is more."""
    in_work = len(doc.stems & task.stems) / max(1, len(doc.stems)) if task is not None else 0.0
    return max(matching.overlap(doc, topics), in_work)


def _surprise_parts(message: Message, window: Sequence[Message], task: Task | None) -> surprise.MessageParts:
    """Return the parts of a message's surprise."""
    own = [m for m in window if m.author == message.author]
    times = [m.at.timestamp() for m in own]
    history = surprise.History(
        vectors=stacked_vectors(window, len(vector_of(message))),
        gaps=[max(0.0, b - a) for a, b in pairwise(times)],
        authors=[m.author for m in window],
        lengths=[len(m.text) for m in own],
        task=None if task is None else task.embedding,
    )
    gap = max(0.0, message.at.timestamp() - times[-1]) if times else 0.0
    return surprise.message_parts(history, vector_of(message), gap, message.author, len(message.text))


def vector_of(of: Message | Prediction) -> Vector:
    if of.embedding is None:
        raise ValueError("an embedding is missing")
    return of.embedding


def stacked_vectors(messages: Sequence[Message], dimension: int) -> Matrix:
    rows = [m.embedding for m in messages if m.embedding is not None]
    return np.stack(rows) if rows else np.zeros((0, dimension), dtype=np.float32)


@dataclass(frozen=True)
class Incoming:
    """A message as the app sent it.

    reply : the app's own, where it writes its replies itself
    task : the exercise or lesson the talk is about, kept for the session until another is given; blank ends it
    opener : the tutor's message before this one, where graphmem has not seen it
    used : ids of the memories that the app's own reply was built on
    """

    turn_id: str
    text: str
    at: datetime
    reply: str | None = None
    task: str | None = None
    opener: str | None = None
    used: tuple[str, ...] = ()

    @cached_property
    def doc(self) -> Doc:
        """The annotations of the text."""
        return Doc(self.text)


@dataclass(frozen=True)
class TurnAttempt:
    """One try at a turn: the incoming message, the student's state, and the receiver of the reply's tokens."""

    incoming: Incoming
    reading: asyncio.Future[MessageAnalysis]
    embedding: asyncio.Future[Matrix]
    held: Unlocked
    on_token: OnToken | None
    now: datetime


def opener_of(attempt: TurnAttempt) -> str | None:
    """Return the tutor's message before this one, unless it is the reply that is stored already."""
    opener, last = attempt.incoming.opener, attempt.held.messages[-1:]
    return None if last and last[0].text == opener else opener


def messages_of(attempt: TurnAttempt, vectors: Matrix) -> tuple[Message, tuple[Message, ...], Message | None]:
    """Return the student's message, the opener before it, and the app's own reply, with their embeddings."""
    incoming, opened = attempt.incoming, opener_of(attempt)
    message = Message(Author.STUDENT, incoming.text, incoming.at, vectors[0], incoming.doc)
    opener = () if opened is None else (Message(Author.COMPANION, opened, incoming.at, vectors[OPENER_ROW]),)
    if incoming.reply is None:
        return message, opener, None
    return message, opener, Message(Author.COMPANION, incoming.reply, incoming.at, vectors[-1])


@dataclass(frozen=True)
class MessageFindings:
    """Findings about a message, before it is answered.

    opener : the tutor's message before it, where it was not stored yet
    own_reply : the app's own, where it wrote one
    talk : visible messages before it, oldest first
    state : of the student, with the embeddings of the predictions
    own_score : of the message without the danger it tells of
    told : scores of the encoder's heads; None where it surely carries no information
    shaken : it takes back a belief
    false_alarm : it repeats a concern that was taken back
    starts : it changes the topic
    facts : matching facts, with the usage of asking for them
    noticed : memories that it contradicts
    """

    message: Message
    opener: Message | None
    own_reply: Message | None
    reading: MessageAnalysis
    talk: tuple[Message, ...]
    state: State
    task: Task | None
    own_score: Score
    told: HeadScores | None
    shaken: bool
    danger: Danger | None
    false_alarm: bool
    starts: bool
    facts: Answer[FittingFacts]
    searched: SearchResult
    noticed: Detected

    @property
    def asked(self) -> str:
        """The text that the message answers; empty where it opens the talk."""
        return self.talk[-1].text if self.talk else ""

    @property
    def score(self) -> Score:
        """The score of the message, grave where it tells of danger."""
        return self.own_score if self.danger is None else grave(self.own_score)

    @property
    def own_matter(self) -> bool:
        """True if the message is work or about the student; other messages only react to the one before."""
        return is_own_matter(self.reading.scores)


async def find_in_message(gm: Graphmem, session: Session, attempt: TurnAttempt) -> MessageFindings:
    """Score a message, search for it, and detect contradictions, concurrently."""
    held, doc = attempt.held, attempt.incoming.doc
    # Searching waits for the embedding and the database, predicting may wait for a model: neither for the other.
    async with task_group() as group:
        searching = group.create_task(search(gm, session, _asking(attempt, gm.settings.memories_recalled)))
        expecting = group.create_task(_needed_facts(gm, session, attempt))
        tasking = group.create_task(_task(gm, attempt))
        await asyncio.sleep(0)
        message, opener, own_reply = messages_of(attempt, await attempt.embedding)
        familiarising = group.create_task(_familiar(gm, session, message, attempt.reading))
        reading = await attempt.reading
        talk = (*held.messages, *opener)
        asked = talk[-1].text if talk and talk[-1].author is Author.COMPANION else ""
        # Danger is looked for on another thread while the message is scored.
        hearing = group.create_task(_heard_danger(message.text, reading, asked, held.state.false_alarms))
        await asyncio.sleep(0)
        expected = expected_in_session(held.state.prediction, held.messages)
        state = replace(held.state, prediction=await _with_vectors(gm, expected))
        task = await tasking
        sensed = _sensed(gm, message, reading, talk, held.messages, state.prediction)
        own = score(message, talk, state, sensed, task, *await familiarising)
        shaken = bool(retractions(doc.text)) or await takes_back_belief(gm, session, message, reading)
        told = _weighed(reading)
        own = levelled(own, told, state.turns, shaken=shaken)
        danger, false_alarm = await hearing
        # Nothing is contradicted by a message that tells of danger.
        noticing = detected(gm, session, message, reading, held.state.turns + 1) if danger is None else None
        detecting = None if noticing is None else group.create_task(noticing)
        await asyncio.sleep(0)
        starts = _starts(gm, (*talk, message))
    return MessageFindings(
        message=replace(message, reading=reading),
        opener=opener[0] if opener else None,
        own_reply=own_reply,
        reading=reading,
        talk=talk,
        state=state,
        task=task,
        own_score=own,
        told=told,
        shaken=shaken,
        danger=danger,
        false_alarm=false_alarm,
        starts=starts,
        facts=expecting.result(),
        searched=searching.result(),
        noticed=Detected() if detecting is None else detecting.result(),
    )


async def _heard_danger(
    text: str, reading: MessageAnalysis, asked: str, alarms: Sequence[FalseAlarm]
) -> tuple[Danger | None, bool]:
    """Find the danger that a student's message reports, and whether one was passed over as a known false alarm.

    A corrected alarm silences its own statements only, and never a plain sign of danger.
    """
    danger = await asyncio.to_thread(find_danger, text, asked, {text: reading})
    if danger is None or danger.sign:
        return danger, False
    rest = without_false_alarms(text, alarms)
    if not alarms or rest == " ".join(text.split()):
        return danger, False
    danger = await asyncio.to_thread(find_danger, rest, asked) if rest else None
    return danger, danger is None


def _weighed(reading: MessageAnalysis) -> HeadScores | None:
    """Return the encoder's scores of a message; None where it carries no information or is surely school work."""
    works = not reading.passes or work_chance(reading.scores) >= SURELY_WORK
    return None if works else reading.scores


def open_doubts_of(gm: Graphmem, session: Session) -> tuple[Uncertainty, ...]:
    """Return doubts about the student that are not settled, as this process holds them."""
    held = gm.memories(session)
    return () if held is None else held.doubts


def _asking(attempt: TurnAttempt, limit: int) -> RecallRequest:
    """Return the recall request of a message, with the message that it answers."""
    before = attempt.held.messages[-1:]
    asking = RecallRequest(attempt.incoming.doc, attempt.embedding, limit=limit, zone=attempt.incoming.at.tzinfo)
    if (opener := opener_of(attempt)) is not None:
        return replace(asking, before=opener, before_row=OPENER_ROW)
    return replace(asking, before=before[0].text, before_vector=before[0].embedding) if before else asking


async def _needed_facts(gm: Graphmem, session: Session, attempt: TurnAttempt) -> Answer[FittingFacts]:
    """Return the facts needed for the student's next message.

    They match the needs of the last prediction and the message; with `separate` a model predicts before (spec 3).
    """
    incoming, held = attempt.incoming, attempt.held
    storing = asyncio.ensure_future(_store_first(gm, session, incoming, attempt.now))
    try:
        expected = await _expected_before(gm, attempt) if gm.settings.predict == "separate" else None
    finally:
        # A model that fails at once must not leave the message unstored.
        await storing
    prediction = held.state.prediction if expected is None else expected.value
    needed = (*(() if prediction is None else prediction.needed_info), *incoming.doc.key_phrases())
    meant = await _meant(gm, session, attempt) if held.facts else {}
    standing = standing_facts(held.facts, (await open_memories(gm, session)).index, attempt.now)
    facts = fitting_facts(standing, needed, gm.settings.facts_recalled, meant=meant)
    return Answer(facts) if expected is None else Answer(facts, expected.usage, expected.degraded)


async def _meant(gm: Graphmem, session: Session, attempt: TurnAttempt) -> dict[str, float]:
    """Return the facts that the message means."""
    asked = [(await attempt.embedding)[0]]
    return meant_facts(attempt.held.facts, await fact_vectors(gm, session, attempt.held.facts), asked)


async def _expected_before(gm: Graphmem, attempt: TurnAttempt) -> Answer[Prediction]:
    """Return the prediction from history alone, as the loop was first described."""
    incoming, held = attempt.incoming, attempt.held
    message = Message(Author.STUDENT, incoming.text, incoming.at, doc=incoming.doc)
    opener = [] if opener_of(attempt) is None else [Message(Author.COMPANION, incoming.opener or "", incoming.at)]
    task = incoming.task if incoming.task is not None else "" if held.task is None else held.task.text
    talk = Conversation(held.state.companion, (*held.messages, *opener, message), task)
    return await gm.mind.ask(Predict(talk))


async def _task(gm: Graphmem, attempt: TurnAttempt) -> Task | None:
    """Return the task of the talk from this message on."""
    given, held = attempt.incoming.task, attempt.held.task
    if given is None or (held is not None and held.text == given):
        return held
    return Task(given, (await gm.embedder.embed([given]))[0], Doc(given).stems) if given else None


async def _familiar(
    gm: Graphmem, session: Session, message: Message, reading: asyncio.Future[MessageAnalysis]
) -> tuple[bool, float]:
    """Return whether a message names an entity of the memories, and the cosine of the nearest; 0 without memories.

    Searching waits for the same memories.
    """
    index = (await open_memories(gm, session)).index
    nearest = [] if message.embedding is None else await asyncio.to_thread(index.nearest, message.embedding, 1)
    named = any(index.holds(entity.name) for entity in entities_of(await reading))
    return named, nearest[0][1] if nearest else 0.0


def _starts(gm: Graphmem, messages: Sequence[Message]) -> bool:
    """Return whether the newest message changes the topic; embeddings of other models are ignored."""
    recent = messages[-SIGHT - 1 :]
    if not gm.is_shipped:
        recent = [replace(message, embedding=None) for message in recent]
    return gm.episodes.newest_starts(recent)


def _sensed(
    gm: Graphmem,
    message: Message,
    reading: MessageAnalysis,
    talk: Sequence[Message],
    held: Sequence[Message],
    expected: Prediction | None,
) -> Sensed:
    """Sense a message given the message it answers, the prediction, and the student's message before."""
    previous = next((m for m in reversed(held) if m.author is Author.STUDENT), None)
    senses = Senses(gm.affect, gm.matches, shipped=gm.is_shipped)
    return senses.of(message, reading, talk[-1] if talk else None, expected, previous)


async def _store_first(gm: Graphmem, session: Session, incoming: Incoming, now: datetime) -> None:
    """Store the message before a mind is waited for; where none is, the one write of the turn is enough."""
    if gm.mind.seconds:
        given = incoming.text, incoming.at, incoming.reply, incoming.task, incoming.opener, incoming.used
        await turns.receive(gm.graph, session, StoredTurn(incoming.turn_id, *given), now)


async def with_vector(gm: Graphmem, of: Embedded) -> Embedded:
    """Return the same with its embedding, where there is something to embed and nobody has yet."""
    if of is None or of.embedding is not None:
        return of
    (vector,) = await gm.embedder.embed([of.text])
    return replace(of, embedding=vector)


async def _with_vectors(gm: Graphmem, prediction: Prediction | None) -> Prediction | None:
    """Return a prediction with the embeddings of all its alternatives."""
    main = await with_vector(gm, prediction)
    if main is None or not main.alternatives:
        return main
    vectors = await gm.embedder.embed([other.text for other in main.alternatives])
    others = zip(main.alternatives, vectors, strict=True)
    return replace(main, alternatives=tuple(replace(other, embedding=vector) for other, vector in others))


def expected_in_session(prediction: Prediction | None, known: Sequence[Message]) -> Prediction | None:
    """Return the prediction for a message; None for a session's first one, which answers no prediction (spec 4)."""
    foreseen = prediction is not None and bool(prediction.text)
    return prediction if foreseen and any(m.author is Author.STUDENT for m in known) else None
