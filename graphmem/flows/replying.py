"""Replies of a turn: the recalled memories, the question it asks, and the shown text (spec 3, 13, 20)."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from graphmem.app import Graphmem
from graphmem.errors import BudgetExceeded, MindError
from graphmem.flows import turn_plan as plan
from graphmem.flows.concern import decided_danger, help_for
from graphmem.flows.context import clear_facts
from graphmem.flows.detection_plan import OWN_ENOUGH
from graphmem.flows.findings import MessageFindings, TurnAttempt
from graphmem.flows.fog import ReplyFilter, hidden_in
from graphmem.flows.uncertainty_plan import is_time_to_raise
from graphmem.model import (
    Answer,
    Conversation,
    MindQuestion,
    Question,
    Remembered,
    Respond,
    Response,
    Session,
    Uncertainty,
    Unlocked,
    Usage,
    Woven,
)
from graphmem.ports import Mind, OnToken
from graphmem.search.fog import Fog
from graphmem.text.doc import doc_of
from graphmem.text.safety import is_careful

T = TypeVar("T")


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
