"""One turn, from the message to the reply and back into the graph. Read this first.

Data goes one way: read, score, ask the mind, plan, write. Nothing is decided while writing, no model is
asked inside a transaction, and the one write is idempotent by turn id and optimistic on the student's
version (spec 3).
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import TypeVar

import numpy as np

from graphmem.app import Graphmem
from graphmem.errors import Conflict, InvalidInput, Locked, MindError, ModelUnavailable
from graphmem.flows import turn_plan as plan
from graphmem.flows.care import ask_in_danger, caring_answer, with_help
from graphmem.flows.concern import graver, heard_danger, help_for, raised_by_turn
from graphmem.flows.context import RecallRequest, clear_facts, search
from graphmem.flows.detection import Detected, detected
from graphmem.flows.facts import Learned, fitting_facts, nearest_memories
from graphmem.flows.facts import learned as learned_of
from graphmem.flows.fog import ReplyFilter, hidden_in
from graphmem.flows.gravity import gravity_now
from graphmem.flows.renewal import renew_if_due
from graphmem.flows.sensing import Senses
from graphmem.flows.session_cache import ENDED, open_memories
from graphmem.flows.uncertainty_plan import is_time_to_raise, may_answer
from graphmem.model import (
    Answer,
    Author,
    Conversation,
    Danger,
    Distil,
    Fact,
    HabitCount,
    Matrix,
    Message,
    Mismatch,
    Predict,
    Prediction,
    Question,
    Respond,
    Response,
    Session,
    State,
    Task,
    TurnOutcome,
    Uncertainty,
    Unlocked,
    Woven,
)
from graphmem.ports import Mind, OnToken
from graphmem.search.fog import Fog
from graphmem.store import jobs, turns
from graphmem.tasks import task_group
from graphmem.text.doc import Doc, doc_of
from graphmem.text.habits import Exchange, counted
from graphmem.text.reader import MOST_PASSES, MessageReading
from graphmem.text.revision import retractions
from graphmem.text.topic_boundaries import SIGHT
from graphmem.validation import checked_id, checked_text, checked_time

MOST_USED = 100
"""Most memories that an app's reply can be built on."""

OPENER_ROW = 1
"""Row of the opener among the embeddings of what came in."""

Embedded = TypeVar("Embedded", Message, Prediction, Prediction | None)


@dataclass(frozen=True)
class Incoming:
    """A message as the app sent it.

    reply : the app's own, where it writes its replies itself
    task : the exercise or lesson the talk is about, kept for the session until another is given; blank ends it
    opener : what the tutor said before the message, where graphmem has not seen it
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
    ModelUnavailable    nor does the language model, and `degrade` is `refuse`; the message is stored, the same turn
                    completes it

    Source: spec 3, 4.
    """
    _check(gm, incoming)
    incoming, mind = replace(incoming, at=_in_ms(incoming.at)), mind or gm.mind
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
    # A language model must not be asked again and again because another replica was first.
    for _ in range(1 + (gm.settings.conflict_retries if not mind.is_model else 0)):
        outcome = await _attempt(gm, session, incoming, mind, on_token)
        if outcome is not None:
            return outcome
    raise Conflict


async def answer_waiting(gm: Graphmem, session: Session) -> int:
    """Answer what was received and never answered; how many messages there were.

    The offline mind answers, since nobody waits any more; where it must not (`degrade`), the configured one.

    Raises
    ------
    ModelUnavailable    the offline mind must not answer and the language model cannot; what is left still waits
    """
    mind = gm.mind if gm.settings.degrade == "refuse" else gm.offline
    waiting = await turns.list_unanswered(gm.graph, session)
    for received in waiting:
        await handle_turn(gm, session, _incoming(received, received.reply), mind=mind)
    return len(waiting)


def _check(gm: Graphmem, incoming: Incoming) -> None:
    checked_id("turnId", incoming.turn_id)
    checked_text("text", incoming.text, gm.settings.message_limit)
    checked_time("at", incoming.at, gm.clock(), gm.settings.clock_skew)
    for name, text in (("reply", incoming.reply), ("opener", incoming.opener), ("task", incoming.task or None)):
        if text is not None:
            checked_text(name, text, gm.settings.message_limit)
    if len(incoming.used) > MOST_USED:
        raise InvalidInput(f"used has {len(incoming.used)} ids: at most {MOST_USED} are taken.")
    for memory_id in incoming.used:
        checked_id("used", memory_id)


def _in_ms(at: datetime) -> datetime:
    """A moment in UTC as it is kept: to the millisecond."""
    return at.astimezone(UTC).replace(microsecond=at.microsecond // 1000 * 1000)


async def _attempt(
    gm: Graphmem, session: Session, incoming: Incoming, mind: Mind, on_token: OnToken | None
) -> TurnOutcome | None:
    """One try at a turn; None when another turn of the student came first."""
    now = gm.clock()
    async with task_group() as group:
        # Embedding takes longest, on a thread of its own: what does not need it goes on meanwhile.
        reading = group.create_task(_read(gm, incoming))
        embedding = group.create_task(_embedded(gm, incoming, reading))
        held = _trusted(gm, session, incoming, mind, on_token)
        if held is None:
            before = _running(gm, session, await turns.before(gm.graph, session, incoming.turn_id, now))
            first = _as_received(before)
            if first is not None and (first.text, first.reply) != (incoming.text, incoming.reply):
                raise Conflict("This turnId was used for another text or reply: use a new turnId for a new message.")
            if before.outcome is not None:
                embedding.cancel()
                reading.cancel()
                return before.outcome
            # Sent again it may have another time: the first one counts.
            incoming = first or incoming
            held = await _unlocked(gm, session, before.state)
        thought = await _think(gm, session, _Asked(incoming, reading, embedding, held, mind, on_token, now))
    write = plan.planned_turn(thought, gm.settings, now, distils=mind.is_model)
    version = await turns.complete(gm.graph, session, write)
    if version is None or version != held.state.version + 1:
        gm.drop(session)
    else:
        gm.admit(session)
        gm.cache.put(session, plan.grown(held, version, thought, write, gm.settings))
    return None if version is None else write.outcome


@dataclass(frozen=True)
class _Asked:
    """One try at a turn: what came in, what is held of the student, and who answers."""

    incoming: Incoming
    reading: asyncio.Future[MessageReading]
    embedding: asyncio.Future[Matrix]
    held: Unlocked
    mind: Mind
    on_token: OnToken | None
    now: datetime


async def _think(gm: Graphmem, session: Session, asked: _Asked) -> plan.TurnThought:
    """Score, predict, recall and respond: everything between reading and writing."""
    incoming, held, mind = asked.incoming, asked.held, asked.mind
    used = await _used(gm, session, asked)
    # Searching waits for the embedding and the database, predicting may wait for a model: neither for the other.
    async with task_group() as group:
        searching = group.create_task(search(gm, session, _asking(asked, gm.settings.memories_recalled)))
        expecting = group.create_task(_expected(gm, session, asked))
        tasking = group.create_task(_task(gm, asked))
        await asyncio.sleep(0)
        message, opener, own_reply = _messages(asked, await asked.embedding)
        reading = await asked.reading
        danger, false_alarm = heard_danger(incoming.doc, reading, held.state.false_alarms)
        detecting = group.create_task(_detected(gm, session, asked, message, reading, danger))
        talk = (*held.messages, *opener)
        before = talk[-1].text if talk else ""
        expected = plan.expected_in_session(held.state.prediction, held.messages)
        state = replace(held.state, prediction=await _with_vectors(gm, expected))
        task = await tasking
        previous = next((m for m in reversed(held.messages) if m.author is Author.STUDENT), None)
        sensed = _senses(gm).of(message, reading, talk[-1] if talk else None, state.prediction, previous)
        own = plan.score(message, talk, state, sensed, task, names_known=_names_known(gm, session, incoming.doc))
        own = plan.grave(own) if reading.passes == MOST_PASSES or retractions(incoming.text) else own
        scored = own if danger is None else plan.grave(own)
        starts = _starts(gm, (*talk, message))
        said = plan.said_before(held.messages)
        state = replace(state, habits=_habits(state, message, before, said))
        facts = await expecting
        result = await searching
        noticed = await detecting
    question = await _question(gm, result.fog, state, scored, message.text) if own_reply is None else None
    violated = plan.mismatch(state, message, before, said, result.found.name)
    learned = await _learned(gm, session, asked, state, scored, violated)
    clear = await clear_facts(gm, result.fog, facts.value)
    found = replace(result.found, facts=tuple(clear), question=None if question is None else question.text)
    doubts = _doubts(gm, session)
    calm = question is None and danger is None and is_time_to_raise(doubts, talk)
    weave = found.weave or (() if noticed.woven is None else await _clear_doubt(gm, result.fog, noticed.woven))
    found = replace(found, weave=weave[:1] if calm else ())
    recalled = await asyncio.to_thread(plan.recall, message, held, found, gm.settings)
    earlier = 2 * (state.turns - len(held.turn_ids))
    conversation = Conversation(state.companion, (*talk, message), "" if task is None else task.text, earlier)
    respond = Respond(conversation, recalled, danger)
    answer = await _answer(gm, session, asked, respond, own_reply, result.fog)
    danger = graver(danger, None if false_alarm else answer.value.danger)
    scored = scored if danger is None else plan.grave(scored)
    replied_by = plan.APP if own_reply is not None else mind.name
    if replied_by != gm.offline.name:
        reply = await _with_vector(gm, answer.value.reply)
        answer = replace(answer, value=replace(answer.value, reply=reply))
    return plan.TurnThought(
        student_id=session.student_id,
        turn_id=incoming.turn_id,
        message=message,
        state=state,
        score=scored,
        fact=learned.fact,
        asked=before,
        recalled=recalled,
        answer=replace(
            answer, usage=facts.usage + noticed.usage + answer.usage, degraded=facts.degraded or answer.degraded
        ),
        replied_by=replied_by,
        question=question,
        starts=starts,
        passes=reading.passes,
        danger=danger,
        raised=None if danger is None else raised_by_turn(gm, session, state.turns + 1, message, danger, own.level),
        false_alarm=false_alarm,
        may_answer=may_answer(doubts, talk),
        talk=said,
        task=task,
        opener=opener[0] if opener else None,
        used=(*used, *await _strengthened(gm, session, learned, asked.now)),
        noticed=noticed.doubt,
    )


async def _detected(
    gm: Graphmem, session: Session, asked: _Asked, message: Message, reading: MessageReading, danger: Danger | None
) -> Detected:
    """What the message contradicts; nothing where it tells of danger."""
    if danger is not None:
        return Detected()
    return await detected(gm, session, asked.mind, message, reading, asked.held.state.turns + 1)


async def _clear_doubt(gm: Graphmem, fog: Fog, woven: Woven) -> tuple[Woven, ...]:
    """A doubt that names no hidden concept, or nothing."""
    (hidden,) = await hidden_in(gm, fog, [f"{woven.a}\n{woven.b or ''}\n{woven.question}"])
    return () if hidden else (woven,)


def _doubts(gm: Graphmem, session: Session) -> tuple[Uncertainty, ...]:
    """Doubts about the student that are not settled, as this process holds them."""
    held = gm.memories(session)
    return () if held is None else held.doubts


def _asking(asked: _Asked, limit: int) -> RecallRequest:
    """Recall request for a message, in the light of what it answers."""
    doc, before = asked.incoming.doc, asked.held.messages[-1:]
    if (opener := _opener(asked)) is not None:
        return RecallRequest(doc, asked.embedding, opener, before_row=OPENER_ROW, limit=limit)
    if not before:
        return RecallRequest(doc, asked.embedding, limit=limit)
    return RecallRequest(doc, asked.embedding, before[0].text, before[0].embedding, limit=limit)


async def _question(gm: Graphmem, fog: Fog, state: State, scored: plan.Score, text: str) -> Question | None:
    """The waiting question to be asked with the reply; one that names a hidden concept waits on."""
    hidden = await hidden_in(gm, fog, [each.text for each in state.questions])
    clear = tuple(each for each, mentions in zip(state.questions, hidden, strict=True) if not mentions)
    return plan.next_question(replace(state, questions=clear), scored, text)


async def _clear_answer(
    gm: Graphmem, mind: Mind, question: Respond, on_token: OnToken | None, fog: Fog
) -> Answer[Response]:
    """A mind's reply and what follows it, without the sentences that name a hidden concept."""
    if not fog:
        return await mind.ask(question, on_token)
    shown = ReplyFilter(gm, fog, on_token)
    answer = await mind.ask(question, None if on_token is None else shown)
    reply = answer.value.reply
    text = await shown.finish(reply.text)
    if text == reply.text:
        return answer
    return replace(answer, value=replace(answer.value, reply=replace(reply, text=text, embedding=None, doc=None)))


async def _answer(
    gm: Graphmem, session: Session, asked: _Asked, question: Respond, own_reply: Message | None, fog: Fog
) -> Answer[Response]:
    """The reply and what follows it; of the app's own reply only what follows."""
    mind, help_text = asked.mind, help_for(gm, session, question.talk.messages[-1].text)
    if own_reply is not None:
        after = Predict(question.talk, own_reply, question.remembered)
        foreseen = await (mind.ask(after) if question.danger is None else ask_in_danger(gm, mind, after))
        return Answer(Response(own_reply, foreseen.value), foreseen.usage, foreseen.degraded)
    if question.danger is not None:
        return await caring_answer(gm, mind, replace(question, help=help_text), asked.on_token, fog)
    # What an app writes itself is its own; a reply to danger is judged where it is written.
    answer = await _clear_answer(gm, mind, question, asked.on_token, fog)
    if answer.value.danger is None:
        return answer
    # What only the model has noticed is shown already: the help comes after it.
    told = with_help(answer, help_text)
    if asked.on_token is not None:
        await asked.on_token(told.value.reply.text[len(answer.value.reply.text) :])
    return told


async def _expected(gm: Graphmem, session: Session, asked: _Asked) -> Answer[list[Fact]]:
    """The facts one needs for the student's next message.

    That is what the last prediction named and what the message asks; with `separate` a model is asked before (spec 3).
    """
    incoming, held = asked.incoming, asked.held
    storing = asyncio.ensure_future(_store_first(gm, session, incoming, asked.mind, asked.now))
    try:
        expected = await _asked_before(asked) if gm.settings.predict == "separate" else None
    finally:
        # A model that fails at once must not leave the message unstored.
        await storing
    prediction = held.state.prediction if expected is None else expected.value
    needed = (*(() if prediction is None else prediction.needed_info), *incoming.doc.key_phrases())
    facts = fitting_facts(held.facts, needed, incoming.doc, gm.settings.facts_recalled)
    return Answer(facts) if expected is None else Answer(facts, expected.usage, expected.degraded)


async def _asked_before(asked: _Asked) -> Answer[Prediction]:
    """The prediction from history alone, as the loop was first described."""
    incoming, held = asked.incoming, asked.held
    message = Message(Author.STUDENT, incoming.text, incoming.at, doc=incoming.doc)
    opener = [] if _opener(asked) is None else [Message(Author.COMPANION, incoming.opener or "", incoming.at)]
    task = incoming.task if incoming.task is not None else "" if held.task is None else held.task.text
    talk = Conversation(held.state.companion, (*held.messages, *opener, message), task)
    return await asked.mind.ask(Predict(talk))


def _opener(asked: _Asked) -> str | None:
    """What the tutor said before the message, unless it is the reply that is held already."""
    opener, last = asked.incoming.opener, asked.held.messages[-1:]
    return None if last and last[0].text == opener else opener


async def _task(gm: Graphmem, asked: _Asked) -> Task | None:
    """The task of the talk from this message on."""
    given, held = asked.incoming.task, asked.held.task
    if given is None or (held is not None and held.text == given):
        return held
    return Task(given, (await gm.embedder.embed([given]))[0], Doc(given).stems) if given else None


async def _used(gm: Graphmem, session: Session, asked: _Asked) -> tuple[turns.Boost, ...]:
    """The memories that an app's reply was built on, as they are lifted by it.

    What is recalled before it is formed has its job's id: there is nothing to lift yet.

    Raises
    ------
    InvalidInput    an id is no memory of this student
    """
    ids = tuple(dict.fromkeys(asked.incoming.used))
    if not ids:
        return ()
    held = await open_memories(gm, session)
    found = [memory for memory in map(held.index.get, ids) if memory is not None]
    if len(found) < len(ids):
        known = await jobs.list_existing(gm.graph, session, ids)
        if unknown := [each for each in ids if held.index.get(each) is None and each not in known]:
            raise InvalidInput(f"used: this student has no memory {unknown[0]!r}: send ids that `context` gave.")
    return tuple(plan.boost(memory.id, gravity_now(memory, asked.now)) for memory in found)


def _trusted(
    gm: Graphmem, session: Session, incoming: Incoming, mind: Mind, on_token: OnToken | None
) -> Unlocked | None:
    """Cached state of the student, where the write alone may find out if it still holds.

    Nothing has been spent or shown when the write then refuses, so the turn is simply done again after
    a read. A language model's time and tokens already shown cannot be taken back: they need the read first.
    """
    if mind.is_model or on_token is not None:
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


def _as_received(before: turns.Before) -> Incoming | None:
    """The message as it came in first under this turn's id, if it did."""
    received = before.received
    if received is None:
        return None
    return _incoming(received, received.reply if before.replied_by in (None, plan.APP) else None)


def _incoming(received: turns.Received, reply: str | None) -> Incoming:
    return Incoming(received.turn_id, received.text, received.at, reply, received.task, received.opener, received.used)


async def _read(gm: Graphmem, incoming: Incoming) -> MessageReading:
    (reading,) = await gm.reader.read([incoming.text])
    return reading


def _names_known(gm: Graphmem, session: Session, doc: Doc) -> bool:
    """True if a message names somebody or something of the student's memories, as far as they are held."""
    held = gm.memories(session)
    return held is not None and any(held.index.holds(entity.name) for entity in doc.entities)


async def _embedded(gm: Graphmem, incoming: Incoming, reading: asyncio.Future[MessageReading]) -> Matrix:
    """Rows for the message, its opener and the app's own reply, as far as there are such."""
    beside = [text for text in (incoming.opener, incoming.reply) if text is not None]
    if not gm.is_shipped:
        return await gm.embedder.embed([incoming.text, *beside])
    # The reader gives the vector with what it reads.
    others = await gm.embedder.embed(beside) if beside else ()
    return np.stack([(await reading).vector, *others])


def _messages(asked: _Asked, vectors: Matrix) -> tuple[Message, tuple[Message, ...], Message | None]:
    """The student's message, what opened the talk before it, and the app's own reply, with their embeddings."""
    incoming, opened = asked.incoming, _opener(asked)
    message = Message(Author.STUDENT, incoming.text, incoming.at, vectors[0], incoming.doc)
    opener = () if opened is None else (Message(Author.COMPANION, opened, incoming.at, vectors[OPENER_ROW]),)
    if incoming.reply is None:
        return message, opener, None
    return message, opener, Message(Author.COMPANION, incoming.reply, incoming.at, vectors[-1])


async def _unlocked(gm: Graphmem, session: Session, state: State) -> Unlocked:
    """Cached state of the student, read anew where it is missing or stale."""
    held = gm.turn_state(session)
    if held is not None and held.state.version == state.version:
        return held
    kept, facts = await asyncio.gather(
        turns.list_turns(gm.graph, session), turns.list_ring(gm.graph, session, gm.settings.facts_kept)
    )
    task = kept[-1].task if kept else ""
    compared = [m.text for each in kept for m in _messages_of(each) if _is_compared(gm, each, m)]
    vectors = iter(await gm.embedder.embed([*compared, *([task] if task else [])]))
    return Unlocked(
        state=state,
        messages=tuple(
            plan.annotated(replace(m, embedding=next(vectors)) if _is_compared(gm, each, m) else m)
            for each in kept
            for m in _messages_of(each)
        ),
        turn_ids=tuple(each.turn_id for each in kept),
        facts=tuple(facts),
        task=Task(task, next(vectors), Doc(task).stems) if task else None,
    )


def _messages_of(kept: turns.StoredTurn) -> tuple[Message, ...]:
    return (*([] if kept.opener is None else [kept.opener]), kept.message, kept.reply)


def _is_compared(gm: Graphmem, kept: turns.StoredTurn, message: Message) -> bool:
    """True if later messages are compared with this one; the offline mind's own replies say nothing new."""
    return message is not kept.reply or kept.replied_by != gm.offline.name


def _starts(gm: Graphmem, messages: Sequence[Message]) -> bool:
    """True if another matter begins with the newest message; the vectors of other models are not understood."""
    recent = messages[-SIGHT - 1 :]
    if not gm.is_shipped:
        recent = [replace(message, embedding=None) for message in recent]
    return gm.episodes.newest_starts(recent)


def _senses(gm: Graphmem) -> Senses:
    return Senses(gm.affect, gm.matches, shipped=gm.is_shipped)


def _habits(state: State, message: Message, asked: str, said: Sequence[str]) -> tuple[HabitCount, ...]:
    """The counts of the student's habits, with this message; what opens a talk answers nothing."""
    if not asked:
        return state.habits
    return counted(state.habits, Exchange(doc_of(message), Doc(asked), Doc(said[-1] if said else "")))


async def _learned(
    gm: Graphmem, session: Session, asked: _Asked, state: State, scored: plan.Score, mismatch: Mismatch | None
) -> Learned:
    """The fact that a violated expectation teaches; where a language model answers, a job distils it."""
    if scored.matched is not False or mismatch is None or asked.mind.is_model:
        return Learned()
    (lesson,) = (await gm.offline.ask(Distil((mismatch,)))).value
    (near,) = await nearest_memories(gm, session, [lesson])
    new = learned_of(lesson, f"fact-t{state.turns + 1}", mismatch.at, asked.held.facts, near)
    return new if new.fact is None else replace(new, fact=replace(new.fact, seq=state.facts + 1))


async def _strengthened(gm: Graphmem, session: Session, learned: Learned, now: datetime) -> tuple[turns.Boost, ...]:
    """The memory that says already what was learned."""
    memory = None if learned.memory_id is None else (await open_memories(gm, session)).index.get(learned.memory_id)
    return () if memory is None else (plan.boost(memory.id, gravity_now(memory, now)),)


async def _store_first(gm: Graphmem, session: Session, incoming: Incoming, mind: Mind, now: datetime) -> None:
    """Store the message before a language model is waited for; the offline mind's one write is enough."""
    if mind.is_model:
        received = turns.Received(**{each.name: getattr(incoming, each.name) for each in fields(incoming)})
        await turns.receive(gm.graph, session, received, now)


async def _with_vector(gm: Graphmem, of: Embedded) -> Embedded:
    """The same with its embedding, where there is something to embed and nobody has yet."""
    if of is None or of.embedding is not None:
        return of
    (vector,) = await gm.embedder.embed([of.text])
    return replace(of, embedding=vector)


async def _with_vectors(gm: Graphmem, prediction: Prediction | None) -> Prediction | None:
    """A prediction with the embeddings of all that it foresees."""
    main = await _with_vector(gm, prediction)
    if main is None or not main.alternatives:
        return main
    vectors = await gm.embedder.embed([other.text for other in main.alternatives])
    others = zip(main.alternatives, vectors, strict=True)
    return replace(main, alternatives=tuple(replace(other, embedding=vector) for other, vector in others))
