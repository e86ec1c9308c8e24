"""One turn, from the message to the reply and back into the graph. Read this first.

Data goes one way: read, score, ask the mind, plan, write. Nothing is decided while writing, no model is
asked inside a transaction, and the one write is idempotent by turn id and optimistic on the student's
version (spec 3).
"""

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TypeVar

import numpy as np

from graphmem.app import Graphmem
from graphmem.errors import BudgetExceeded, Conflict, InvalidInput, Locked, MindError, ModelUnavailable
from graphmem.flows import turn_plan as plan
from graphmem.flows.budget import within_budget
from graphmem.flows.context import clear_facts
from graphmem.flows.findings import Incoming as Incoming
from graphmem.flows.findings import (
    MessageFindings,
    TurnAttempt,
    find_in_message,
    grave,
    judged_anew,
    levelled,
    open_doubts_of,
    with_vector,
)
from graphmem.flows.ledger import decided_danger, help_for, raised_by_turn
from graphmem.flows.overlay import ReplyFilter, hidden_in
from graphmem.flows.session_cache import ENDED, note_used, open_memories
from graphmem.flows.students import renew_if_due
from graphmem.flows.turn_plan import CONTEXT_TOKENS
from graphmem.flows.uncertainty_plan import OWN_ENOUGH, is_time_to_raise, may_answer
from graphmem.language.analysis import MessageAnalysis
from graphmem.maths.gravity import boosted
from graphmem.model import (
    Answer,
    Author,
    Conversation,
    Matrix,
    Message,
    MindQuestion,
    Question,
    Remembered,
    Respond,
    Response,
    Session,
    Standing,
    State,
    StoredTurn,
    Task,
    TurnOutcome,
    Uncertainty,
    Unlocked,
    Usage,
    Vector,
    Woven,
)
from graphmem.ports import Mind, OnToken
from graphmem.search.fog import Fog
from graphmem.search.scoring import gravity_now
from graphmem.store import jobs, turns
from graphmem.tasks import task_group
from graphmem.text.doc import Doc, doc_of
from graphmem.text.safety import is_careful
from graphmem.validation import CLOCK_SKEW, MESSAGE_LIMIT, checked_id, checked_new_id, checked_text, checked_time

T = TypeVar("T")
CONFLICT_RETRIES = 5
"""Times a turn is tried again when another was first."""
MOST_USED = 100
"""Most memories that an app's reply can be built on."""
TURN_QUESTIONS = 2
"""Most questions that a turn asks a language model."""
TOKEN_BYTES = 4
"""About the bytes of a token of a context."""


async def _clear_doubt(gm: Graphmem, fog: Fog, woven: Woven) -> tuple[Woven, ...]:
    """Return a doubt that names no hidden concept, or nothing."""
    (hidden,) = await hidden_in(gm, fog, [f"{woven.a}\n{woven.b or ''}\n{woven.question}"])
    return () if hidden else (woven,)


async def question_to_ask(gm: Graphmem, seen: MessageFindings) -> Question | None:
    """Return the waiting question to be asked with the reply; one that names a hidden concept waits on."""
    if seen.own_reply is not None:
        return None
    hidden = await hidden_in(gm, seen.searched.fog, [each.text for each in seen.state.questions])
    clear = tuple(each for each, mentions in zip(seen.state.questions, hidden, strict=True) if not mentions)
    tells = seen.reading.scores.chance("about_self") >= OWN_ENOUGH
    state, works = replace(seen.state, questions=clear), seen.task is not None
    act = seen.reading.scores.likely("act")
    return plan.next_question(state, seen.score, doc_of(seen.message).text, act, tells=tells, works=works)


async def remembered_for(
    gm: Graphmem, held: Unlocked, seen: MessageFindings, question: Question | None, doubts: Sequence[Uncertainty]
) -> Remembered:
    """Memories, facts and turns that the reply is built on, and a doubt that it may raise where the moment is calm."""
    fog, found = seen.searched.fog, seen.searched.found
    clear = await clear_facts(gm, fog, seen.facts.value.facts)
    weave = found.weave or (() if seen.noticed.woven is None else await _clear_doubt(gm, fog, seen.noticed.woven))
    calm = question is None and seen.danger is None and is_time_to_raise(doubts, seen.talk)
    found = replace(
        found,
        facts=tuple(clear),
        why=dict(found.why) | dict(seen.facts.value.why),
        question=None if question is None else question.text,
        weave=weave[:1] if calm else (),
    )
    return await asyncio.to_thread(plan.recalled_for_turn, seen.message, held, found)


async def _clear_answer(
    gm: Graphmem, mind: Mind, question: Respond, on_token: OnToken | None, fog: Fog
) -> Answer[Response]:
    """Return a mind's reply and what follows it, without the sentences that name a hidden concept."""
    if not fog:
        return await mind.ask(question, on_token)
    shown = ReplyFilter(gm, fog, on_token)
    answer = await mind.ask(question, None if on_token is None else shown)
    reply = answer.value.reply
    text = await shown.finish(reply.text)
    if text == reply.text:
        return answer
    return replace(answer, value=replace(answer.value, reply=replace(reply, text=text, embedding=None, doc=None)))


async def answer_of(
    gm: Graphmem, session: Session, attempt: TurnAttempt, seen: MessageFindings, recalled: Remembered
) -> Answer[Response]:
    """Return the reply and what goes with it; of the app's own reply only what goes with it."""
    mind, fog, help_text = gm.mind, seen.searched.fog, help_for(gm, session, seen.message.text)
    earlier = 2 * (seen.state.turns - len(attempt.held.turn_ids))
    task = "" if seen.task is None else seen.task.text
    talk = Conversation(seen.state.companion, (*seen.talk, seen.message), task, earlier)
    question = Respond(talk, recalled, seen.danger, help_text, seen.state.prediction, seen.own_reply)
    if seen.own_reply is not None:
        # A reply that the app writes is its own responsibility.
        return await (mind.ask(question) if seen.danger is None else ask_in_danger(gm, mind, question))
    if question.danger is not None:
        return await caring_answer(gm, mind, question, attempt.on_token, fog)
    answer = await _clear_answer(gm, mind, question, attempt.on_token, fog)
    if answer.value.danger is None or seen.false_alarm:
        return answer
    # What only the model has noticed is shown already: the help comes after it.
    told = with_help(answer, help_text)
    if attempt.on_token is not None:
        await attempt.on_token(told.value.reply.text[len(answer.value.reply.text) :])
    return told


async def ask_in_danger(gm: Graphmem, mind: Mind, question: MindQuestion[T]) -> Answer[T]:
    """Ask a mind; where it fails the offline mind answers, also where it must not otherwise (`degrade`)."""
    try:
        return await mind.ask(question)
    except (MindError, BudgetExceeded) as error:
        spent = error.usage if isinstance(error, MindError) else None
    answer = await gm.offline.ask(question)
    return replace(answer, usage=answer.usage + (spent or Usage()), degraded=True)


async def caring_answer(
    gm: Graphmem, mind: Mind, question: Respond, on_token: OnToken | None, fog: Fog
) -> Answer[Response]:
    """Return the reply to a message that tells of danger; it is streamed once it is whole.

    Where the mind denies the danger it is a reply as any other. Else one that promises secrecy, turns to the exercise
    or names a hidden concept gives way to the offline mind's, and whoever wrote it, it holds the help text word for
    word.

    Parameters
    ----------
    gm : Graphmem
    mind : Mind
    question : Respond, with its danger and help text
    on_token : as in `handle_turn`
    fog : the concepts hidden from the student
    """
    answer = await ask_in_danger(gm, mind, question)
    text = answer.value.reply.text
    hidden = any(await hidden_in(gm, fog, [text]))
    denied = decided_danger(question.danger, answer.value.danger, judged=answer.value.judged) is None
    if hidden or not (denied or is_careful(text)):
        own = await gm.offline.ask(replace(question, danger=None) if denied else question)
        answer = replace(answer, value=replace(answer.value, reply=own.value.reply))
    if not denied:
        answer = with_help(answer, question.help)
    if on_token is not None:
        for piece in re.findall(r"\s*\S+", answer.value.reply.text):
            await on_token(piece)
    return answer


def with_help(answer: Answer[Response], help_text: str) -> Answer[Response]:
    """Return the same answer, its reply holding the help text."""
    reply = answer.value.reply
    if help_text in reply.text:
        return answer
    told = replace(reply, text=f"{reply.text.rstrip()} {help_text}", embedding=None, doc=None)
    return replace(answer, value=replace(answer.value, reply=told))


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
    known = () if held is None else ((held.index.get(i), gravity) for i, gravity in write.boosts.items())
    return [Standing(memory.id, gravity, at, memory.access_count + 1) for memory, gravity in known if memory]


async def _think(gm: Graphmem, session: Session, attempt: TurnAttempt) -> plan.TurnThought:
    """Score, predict, recall and respond: everything between reading and writing."""
    used = await _used(gm, session, attempt)
    seen = await find_in_message(gm, session, attempt)
    question = await question_to_ask(gm, seen)
    doubts = open_doubts_of(gm, session)
    recalled = await remembered_for(gm, attempt.held, seen, question, doubts)
    answer = await answer_of(gm, session, attempt, seen, recalled)
    danger = decided_danger(seen.danger, None if seen.false_alarm else answer.value.danger, judged=answer.value.judged)
    own = judged_anew(seen.own_score, answer.value.came_true, seen.state)
    own = levelled(own, seen.told, seen.state.turns, shaken=seen.shaken)
    replied_by = plan.APP if seen.own_reply is not None else gm.mind.name
    judged = seen.own_reply is not None or answer.value.judged
    if judged:
        reply = await with_vector(gm, answer.value.reply)
        answer = replace(answer, value=replace(answer.value, reply=reply))
    return plan.TurnThought(
        student_id=session.student_id,
        turn_id=attempt.incoming.turn_id,
        seen=seen,
        score=own if danger is None else grave(own),
        recalled=recalled,
        answer=replace(
            answer,
            usage=seen.facts.usage + answer.usage,
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


async def _used(gm: Graphmem, session: Session, attempt: TurnAttempt) -> dict[str, float]:
    """Return the memories that an app's reply was built on, as they are lifted by it.

    A message recalled before its memories are formed has its job's id: there is nothing to boost yet.

    Raises
    ------
    InvalidInput    an id is no memory of this student
    """
    ids = tuple(dict.fromkeys(attempt.incoming.used))
    if not ids:
        return {}
    held = await open_memories(gm, session)
    found = [memory for memory in map(held.index.get, ids) if memory is not None]
    if len(found) < len(ids):
        known = await jobs.list_existing(gm.graph, session, ids)
        if unknown := [each for each in ids if held.index.get(each) is None and each not in known]:
            raise InvalidInput(f"used: this student has no memory {unknown[0]!r}: send ids that `context` gave.")
    return {memory.id: boosted(gravity_now(memory, attempt.now)) for memory in found}


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
