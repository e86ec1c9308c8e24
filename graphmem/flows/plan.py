"""What a turn decides, as pure functions: how it scores, what is recalled, and everything it will write."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise

import numpy as np

from graphmem.maths import features, importance, matching, surprise
from graphmem.model import (
    Answer,
    Attention,
    Companion,
    Fact,
    Job,
    JobState,
    Lesson,
    Level,
    Matrix,
    Message,
    Prediction,
    RecalledTurn,
    Remembered,
    Response,
    State,
    TurnOutcome,
    Unlocked,
    Vector,
)
from graphmem.settings import Settings
from graphmem.store.turns import DistilJob, TurnWrite

SURPRISE_WINDOW = 50
"""Messages that a new one is compared with (spec 5)."""
IN_SIGHT = 3
"""Turns so recent that nobody needs to be reminded of them."""
SIMILAR = 0.35
"""Cosine from which an earlier turn fits a message."""


@dataclass(frozen=True)
class Score:
    """What is computed of a message before anybody thinks about it (spec 4 to 6)."""

    match: float | None
    surprise: float
    level: Level
    importance: float
    threshold: float
    attention: tuple[Attention, ...]

    @property
    def matched(self) -> bool | None:
        """Whether the expectation came true; None where there was none."""
        return None if self.match is None else self.match >= matching.MATCHED


def score(
    message: Message, known: Sequence[Message], expected: Prediction | None, companion: Companion, emotion: float
) -> Score:
    """Score a message against the conversation and what was expected of it.

    Parameters
    ----------
    message : Message, with embedding
    known : messages of the session, oldest first; those without an embedding are not compared in meaning
    expected : Prediction with embedding, or None on the first turn
    companion : Companion
    emotion : float in [0, 1], strength of feeling in the message
    """
    window = known[-SURPRISE_WINDOW:]
    vector = _vector(message)
    match = None
    if expected is not None:
        match = matching.match(expected.text, message.text, float(np.dot(_vector(expected), vector)))
    signal = surprise.signal(_message_surprise(message, window), match)
    now = message.at.timestamp()
    rate = features.messages_per_minute([m.at.timestamp() for m in (*window, message)], now)
    latest = max((m.at.timestamp() for m in window), default=now)
    values = importance.Features(
        mentioned=float(features.addressed(message.text, [companion.name])),
        recency=features.recency(latest - now),
        heat=importance.activity(rate),
        expertise=features.overlap(message.text, companion.expertise),
        novelty=features.novelty(_matrix(window, len(vector)), vector),
        emotion=emotion,
    )
    warmth = importance.temperature(importance.activity(rate))
    return Score(
        match=match,
        surprise=signal,
        level=surprise.level(signal),
        importance=importance.importance(values, warmth),
        threshold=importance.threshold(rate),
        attention=importance.attention(values, warmth),
    )


def recall(message: Message, unlocked: Unlocked, needed: Sequence[str], settings: Settings) -> Remembered:
    """The facts that fit what one needs to know, and earlier turns that fit the message.

    Parameters
    ----------
    message : Message, with embedding
    unlocked : Unlocked
    needed : keywords of the prediction
    settings : Settings
    """
    facts = matching.retrieve(unlocked.facts, needed, settings.facts_recalled)
    said, replies = unlocked.messages[: -2 * IN_SIGHT : 2], unlocked.messages[1::2]
    vector = _vector(message)
    first = unlocked.state.turns - len(unlocked.turn_ids) + 1
    fitting = [
        RecalledTurn(first + i, m.text, replies[i].text, similarity)
        for i, m in enumerate(said)
        if (similarity := float(np.dot(_vector(m), vector))) >= SIMILAR
    ]
    best = sorted(fitting, key=lambda t: -t.similarity)[: settings.turns_recalled]
    return Remembered(tuple(facts), tuple(best))


def new_fact(state: State, lesson: Lesson, at: datetime) -> Fact:
    """The next fact of the ring."""
    seq = state.facts + 1
    return Fact(f"fact-{seq}", seq, lesson.text, lesson.tags, at)


@dataclass(frozen=True)
class Thought:
    """Everything that was found out about a turn, before it becomes what is written."""

    student_id: str
    turn_id: str
    message: Message
    state: State
    score: Score
    fact: Fact | None
    asked: str
    recalled: Remembered
    expected: Answer[Prediction]
    answer: Answer[Response]
    replied_by: str


def plan(thought: Thought, settings: Settings, now: datetime, *, improve_facts: bool) -> TurnWrite:
    """Everything the turn will write, as data.

    Parameters
    ----------
    thought : Thought
    settings : Settings
    now : datetime
    improve_facts : bool, whether a language model shall word the fact better
    """
    state, scored, answer = thought.state, thought.score, thought.answer
    usage = thought.expected.usage + answer.usage
    jobs = _distil_jobs(thought) if improve_facts else ()
    seq = state.turns + 1
    outcome = TurnOutcome(
        turn_id=thought.turn_id,
        seq=seq,
        at=thought.message.at,
        reply=answer.value.reply.text,
        degraded=thought.expected.degraded or answer.degraded,
        match=scored.match,
        matched=scored.matched,
        fact=thought.fact,
        surprise=scored.surprise,
        level=scored.level,
        importance=scored.importance,
        threshold=scored.threshold,
        attention=scored.attention,
        recalled_facts=thought.recalled.facts,
        recalled_turns=thought.recalled.turns,
        prediction=answer.value.prediction.text,
        needed_info=answer.value.prediction.needed_info,
        jobs=tuple(Job(job.id, "distil", thought.student_id, JobState.WAITING, 0, now, now) for job in jobs),
        usage=usage,
    )
    facts = state.facts + (thought.fact is not None)
    return TurnWrite(
        text=thought.message.text,
        replied_by=thought.replied_by,
        outcome=outcome,
        prediction=answer.value.prediction,
        facts=facts,
        oldest_turn=seq - settings.working_memory + 1,
        oldest_fact=facts - settings.facts_kept + 1,
        now=now,
        jobs=jobs,
    )


def grown(unlocked: Unlocked, version: int, thought: Thought, write: TurnWrite, settings: Settings) -> Unlocked:
    """What is held in memory after a turn: one turn more, the oldest beyond working memory dropped."""
    state = State(
        version=version,
        turns=write.outcome.seq,
        facts=write.facts,
        companion=unlocked.state.companion,
        prediction=write.prediction,
    )
    most = settings.working_memory
    new_facts = () if thought.fact is None else (thought.fact,)
    return replace(
        unlocked,
        state=state,
        messages=(*unlocked.messages, thought.message, thought.answer.value.reply)[-2 * most :],
        turn_ids=(*unlocked.turn_ids, thought.turn_id)[-most:],
        facts=(*new_facts, *unlocked.facts)[: settings.facts_kept],
    )


def _message_surprise(message: Message, window: Sequence[Message]) -> float:
    own = [m for m in window if m.author == message.author]
    times = [m.at.timestamp() for m in own]
    history = surprise.History(
        vectors=_matrix(window, len(_vector(message))),
        gaps=[max(0.0, b - a) for a, b in pairwise(times)],
        authors=[m.author for m in window],
        lengths=[len(m.text) for m in own],
    )
    gap = max(0.0, message.at.timestamp() - times[-1]) if times else 0.0
    return surprise.message_surprise(history, _vector(message), gap, message.author, len(message.text))


def _distil_jobs(thought: Thought) -> tuple[DistilJob, ...]:
    """A violated expectation that a language model shall put into better words later."""
    expected = thought.state.prediction
    if thought.fact is None or expected is None:
        return ()
    job_id = f"distil-{thought.fact.seq}"
    return (DistilJob(job_id, thought.fact.id, expected.text, thought.message.text, thought.asked),)


def _vector(of: Message | Prediction) -> Vector:
    if of.embedding is None:
        raise ValueError("an embedding is missing")
    return of.embedding


def _matrix(messages: Sequence[Message], dimension: int) -> Matrix:
    rows = [m.embedding for m in messages if m.embedding is not None]
    return np.stack(rows) if rows else np.zeros((0, dimension), dtype=np.float32)
