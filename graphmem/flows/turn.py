"""One turn, from the message to the reply and back into the graph. Read this first.

Data goes one way: read, score, ask the mind, plan, write. Nothing is decided while writing, no model is
asked inside a transaction, and the one write is idempotent by turn id and optimistic on the student's
version (spec 3).
"""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from graphmem.app import Graphmem
from graphmem.errors import Conflict, InvalidInput, Locked, MindError, ModelUnavailable
from graphmem.flows import scoring
from graphmem.flows import turn_plan as plan
from graphmem.flows.budget import within_budget
from graphmem.flows.concern import decided_danger, raised_by_turn
from graphmem.flows.findings import Incoming as Incoming
from graphmem.flows.findings import TurnAttempt, find_in_message, open_doubts_of, with_vector
from graphmem.flows.replying import answer_of, question_to_ask, remembered_for
from graphmem.flows.session_cache import ENDED, note_used, open_memories
from graphmem.flows.students import renew_if_due
from graphmem.flows.turn_plan import CONTEXT_TOKENS
from graphmem.flows.uncertainty_plan import may_answer
from graphmem.language.analysis import MessageAnalysis
from graphmem.model import (
    Author,
    Matrix,
    Message,
    Session,
    Standing,
    State,
    StoredTurn,
    Task,
    TurnOutcome,
    Unlocked,
    Vector,
)
from graphmem.ports import Mind, OnToken
from graphmem.search.scoring import gravity_now
from graphmem.store import jobs, turns
from graphmem.tasks import task_group
from graphmem.text.doc import Doc, doc_of
from graphmem.validation import CLOCK_SKEW, MESSAGE_LIMIT, checked_id, checked_new_id, checked_text, checked_time

CONFLICT_RETRIES = 5
"""Times a turn is tried again when another was first."""

MOST_USED = 100
"""Most memories that an app's reply can be built on."""
TURN_QUESTIONS = 2
"""Most questions that a turn asks a language model."""
TOKEN_BYTES = 4
"""About the bytes of a token of a context."""


async def handle_turn(
    gm: Graphmem, session: Session, incoming: Incoming, *, mind: Mind | None = None, on_token: OnToken | None = None
) -> TurnOutcome:
    """Answer one message of a student, learn from it and predict the next.

    Parameters
    ----------
    gm : Graphmem
    session : Session, open
    incoming : Incoming; the same turn_id and message again return the stored outcome and change nothing
    mind : Mind, who answers; the configured one by default
    on_token : called with each piece of the reply while it is written

    Returns
    -------
    TurnOutcome

    Raises
    ------
    InvalidInput    the message, id or time will not do, or `used` names what is no memory of the student; nothing was
                    stored
    Locked          the session is not open
    Conflict        the turn_id was used for another text or reply, or in a session that has ended; or other turns
                    of this student kept being first
    Unavailable     Neo4j does not answer; send the same turn again
    BudgetExceeded      the day's budget is spent, and `degrade` is `refuse`; the message is stored
    ModelUnavailable    nor does the language model, and `degrade` is `refuse`; the message is stored, the same turn
                    completes it

    Source: spec 3, 4.
    """
    at = _checked_at(gm, session, incoming)
    incoming, mind = replace(incoming, at=at), mind or gm.mind
    with gm.background.gate.turn():
        async with gm.lock(session):
            try:
                outcome = await _handled(gm, session, incoming, mind, on_token)
            except MindError as error:
                raise ModelUnavailable from error
    await renew_if_due(gm, session)
    return outcome


async def _handled(
    gm: Graphmem, session: Session, incoming: Incoming, mind: Mind, on_token: OnToken | None
) -> TurnOutcome:
    # A mind that takes its time must not be asked again and again because another replica was first.
    for _ in range(1 + (0 if mind.seconds else CONFLICT_RETRIES)):
        outcome = await _attempt(gm, session, incoming, mind, on_token)
        if outcome is not None:
            return outcome
    raise Conflict


async def answer_waiting(gm: Graphmem, session: Session) -> int:
    """Answer messages that were received and never answered, and return how many there were.

    The offline mind answers, since nobody waits any more; where it must not (`degrade`), the configured one.

    Raises
    ------
    ModelUnavailable    the offline mind must not answer and the language model cannot; what is left still waits
    """
    mind = gm.mind if gm.settings.degrade == "refuse" else gm.offline
    waiting = await turns.list_unanswered(gm.graph, session)
    for received in waiting:
        await handle_turn(gm, session, _incoming(received), mind=mind)
    return len(waiting)


def _checked_at(gm: Graphmem, session: Session, incoming: Incoming) -> datetime:
    """Return the moment of a message that will do, in its writer's time zone."""
    checked_new_id("turnId", incoming.turn_id, in_paths=False)
    checked_text("text", incoming.text, MESSAGE_LIMIT)
    at = checked_time("at", incoming.at, gm.clock(), CLOCK_SKEW, session.time_zone)
    for name, text in (("reply", incoming.reply), ("opener", incoming.opener), ("task", incoming.task or None)):
        if text is not None:
            checked_text(name, text, MESSAGE_LIMIT)
    if len(incoming.used) > MOST_USED:
        raise InvalidInput(f"used has {len(incoming.used)} ids: at most {MOST_USED} are taken.")
    for memory_id in incoming.used:
        checked_id("used", memory_id)
    return at


def _in_ms(at: datetime) -> datetime:
    """Return a moment in UTC as it is kept: to the millisecond."""
    return at.astimezone(UTC).replace(microsecond=at.microsecond // 1000 * 1000)


async def _attempt(
    gm: Graphmem, session: Session, incoming: Incoming, mind: Mind, on_token: OnToken | None
) -> TurnOutcome | None:
    """Try a turn once; None when another turn of the student came first."""
    now = gm.clock()
    async with task_group() as group:
        # Embedding takes longest, on a thread of its own: what does not need it goes on meanwhile.
        early: asyncio.Future[Vector] = asyncio.get_running_loop().create_future()
        reading = group.create_task(gm.reader.read_early(incoming.doc.text, early))
        embedding = group.create_task(_message_vectors(gm, incoming, reading, early))
        held = _trusted(gm, session, incoming, mind, on_token)
        if held is None:
            before = _running(gm, session, await turns.before(gm.graph, session, incoming.turn_id, now))
            # The message as it came in first under this turn's id, if it did.
            first = None if before.received is None else _incoming(before.received)
            if first is not None and (first.text, first.reply) != (incoming.text, incoming.reply):
                raise Conflict("This turnId was used for another text or reply: use a new turnId for a new message.")
            if before.outcome is not None:
                embedding.cancel()
                reading.cancel()
                return before.outcome
            # Sent again it may have another time: the first one counts.
            incoming = first or incoming
            held = await _unlocked(gm, session, before.state)
        attempt = TurnAttempt(incoming, reading, embedding, held, on_token, now)
        name, asked = f"turn-{incoming.turn_id}", _most_bytes(attempt)
        async with within_budget(replace(gm, mind=mind), session, name, asked, TURN_QUESTIONS) as able:
            thought = await _think(able, session, attempt)
            return await _written(able, session, attempt, thought)


def _most_bytes(attempt: TurnAttempt) -> int:
    """About the bytes that a question of a turn is about at most."""
    texts = (attempt.incoming.text, attempt.incoming.task or "", *(said.text for said in attempt.held.messages))
    return sum(len(text.encode()) for text in texts) + TOKEN_BYTES * CONTEXT_TOKENS


async def _written(
    gm: Graphmem, session: Session, attempt: TurnAttempt, thought: plan.TurnThought
) -> TurnOutcome | None:
    """Write a turn; None when another turn of the student came first."""
    write = plan.planned_turn(thought, gm.settings, attempt.now)
    used = _standings_after(gm, session, write)
    version = await turns.complete(gm.graph, session, write)
    if version is None or version != attempt.held.state.version + 1:
        gm.drop(session)
    else:
        gm.admit(session)
        gm.cache.put(session, plan.grown(attempt.held, version, thought, write))
        await note_used(gm, session, write.outcome.seq, used)
    return None if version is None else write.outcome


def _standings_after(gm: Graphmem, session: Session, write: turns.TurnWrite) -> list[Standing]:
    """How the memories that a turn uses stand once it is written; taken before it is, lest a use is counted twice."""
    held, at = gm.memories(session), _in_ms(write.now)
    known = () if held is None else ((held.index.get(boost.memory_id), boost) for boost in write.boosts)
    return [Standing(memory.id, boost.gravity, at, memory.access_count + 1) for memory, boost in known if memory]


async def _think(gm: Graphmem, session: Session, attempt: TurnAttempt) -> plan.TurnThought:
    """Score, predict, recall and respond: everything between reading and writing."""
    used = await _used(gm, session, attempt)
    seen = await find_in_message(gm, session, attempt)
    question = await question_to_ask(gm, seen)
    doubts = open_doubts_of(gm, session)
    recalled = await remembered_for(gm, attempt.held, seen, question, doubts)
    answer = await answer_of(gm, session, attempt, seen, recalled)
    danger = decided_danger(seen.danger, None if seen.false_alarm else answer.value.danger, judged=answer.value.judged)
    own = scoring.judged_anew(seen.own_score, answer.value.came_true, seen.state)
    own = scoring.levelled(own, seen.told, seen.state.turns, shaken=seen.shaken)
    replied_by = plan.APP if seen.own_reply is not None else gm.mind.name
    judged = seen.own_reply is not None or answer.value.judged
    if judged:
        reply = await with_vector(gm, answer.value.reply)
        answer = replace(answer, value=replace(answer.value, reply=reply))
    return plan.TurnThought(
        student_id=session.student_id,
        turn_id=attempt.incoming.turn_id,
        seen=seen,
        score=own if danger is None else scoring.grave(own),
        recalled=recalled,
        answer=replace(
            answer,
            usage=seen.facts.usage + seen.noticed.usage + answer.usage,
            degraded=seen.facts.degraded or answer.degraded,
        ),
        replied_by=replied_by,
        question=question,
        danger=danger,
        raised=None
        if danger is None
        else raised_by_turn(gm, session, seen.state.turns + 1, seen.message, danger, own.level),
        may_answer=may_answer(doubts, seen.talk),
        used=used,
        judged=judged,
    )


async def _used(gm: Graphmem, session: Session, attempt: TurnAttempt) -> tuple[turns.Boost, ...]:
    """Return the memories that an app's reply was built on, as they are lifted by it.

    A message recalled before its memories are formed has its job's id: there is nothing to boost yet.

    Raises
    ------
    InvalidInput    an id is no memory of this student
    """
    ids = tuple(dict.fromkeys(attempt.incoming.used))
    if not ids:
        return ()
    held = await open_memories(gm, session)
    found = [memory for memory in map(held.index.get, ids) if memory is not None]
    if len(found) < len(ids):
        known = await jobs.list_existing(gm.graph, session, ids)
        if unknown := [each for each in ids if held.index.get(each) is None and each not in known]:
            raise InvalidInput(f"used: this student has no memory {unknown[0]!r}: send ids that `context` gave.")
    return tuple(plan.boost(memory.id, gravity_now(memory, attempt.now)) for memory in found)


def _trusted(
    gm: Graphmem, session: Session, incoming: Incoming, mind: Mind, on_token: OnToken | None
) -> Unlocked | None:
    """Return the cached state of the student, where the write alone may find out if it still holds.

    Nothing has been spent or shown when the write then refuses, so the turn is simply done again after
    a read. Time that a mind takes and tokens already shown cannot be taken back: they need the read first.
    """
    if mind.seconds or on_token is not None:
        return None
    held = gm.turn_state(session)
    if held is None or not gm.admits(session) or incoming.turn_id in held.turn_ids:
        return None
    return held


def _running(gm: Graphmem, session: Session, before: turns.Before | None) -> turns.Before:
    """Refuse what cannot be handled."""
    if before is None or not before.open:
        gm.dismiss(session)
        raise Locked(ENDED)
    if before.handled and before.outcome is None:
        raise Conflict("This turn was handled before and is no longer kept: use a new turnId for a new message.")
    return before


def _incoming(turn: StoredTurn) -> Incoming:
    """Return the message of a turn as the app sent it."""
    reply = turn.reply if turn.replied_by == plan.APP else turn.given_reply
    return Incoming(turn.turn_id, turn.text, turn.at, reply, turn.task, turn.opener, turn.used)


async def _message_vectors(
    gm: Graphmem, incoming: Incoming, reading: asyncio.Future[MessageAnalysis], early: asyncio.Future[Vector]
) -> Matrix:
    """Return rows for the message, its opener and the app's own reply, as far as there are such.

    early : given the vector that comes with the reading as soon as it is there; never where there is no reading
    """
    beside = [text for text in (incoming.opener, incoming.reply) if text is not None]
    if not gm.is_shipped:
        return await gm.embedder.embed([incoming.doc.text, *beside])
    others = await gm.embedder.embed(beside) if beside else ()
    await asyncio.wait((early, reading), return_when=asyncio.FIRST_COMPLETED)
    return np.stack([early.result() if early.done() else (await reading).vector, *others])


async def _unlocked(gm: Graphmem, session: Session, state: State) -> Unlocked:
    """Return the cached state of the student, read anew where it is missing or stale."""
    held = gm.turn_state(session)
    if held is not None and held.state.version == state.version:
        return held
    kept, facts = await asyncio.gather(
        turns.list_turns(gm.graph, session), turns.list_ring(gm.graph, session, gm.settings.facts_kept)
    )
    task = (kept[-1].task or "") if kept else ""
    said = [pair for each in kept for pair in _messages_of(gm, each)]
    compared = [doc_of(message).text for message, is_compared in said if is_compared]
    vectors = iter(await gm.embedder.embed([*compared, *([task] if task else [])]))
    return Unlocked(
        state=state,
        messages=tuple(
            plan.annotated(replace(message, embedding=next(vectors)) if is_compared else message)
            for message, is_compared in said
        ),
        turn_ids=tuple(each.turn_id for each in kept),
        facts=tuple(facts),
        task=Task(task, next(vectors), Doc(task).stems) if task else None,
    )


def _messages_of(gm: Graphmem, kept: StoredTurn) -> Iterator[tuple[Message, bool]]:
    """Yield a turn's messages, each with whether later ones are compared with it: offline replies say nothing new."""
    said = (
        (Author.COMPANION, kept.opener, True),
        (Author.STUDENT, kept.text, True),
        (Author.COMPANION, kept.reply, kept.replied_by != gm.offline.name),
    )
    return ((Message(author, text, kept.at), compared) for author, text, compared in said if text is not None)
