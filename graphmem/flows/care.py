"""Replies to a message that tells of danger: checked as a whole before anything of them is shown (spec 20)."""

import re
from dataclasses import replace
from typing import TypeVar

from graphmem.app import Graphmem
from graphmem.errors import BudgetExceeded, MindError
from graphmem.flows.concern import decided_danger
from graphmem.flows.fog import hidden_in
from graphmem.model import Answer, MindQuestion, Respond, Response, Usage
from graphmem.ports import Mind, OnToken
from graphmem.search.fog import Fog
from graphmem.text.safety import is_careful

T = TypeVar("T")


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
    """The reply to a message that tells of danger; it is streamed once it is whole.

    Where the mind denies the danger it is a reply as any other. Else one that promises secrecy, turns to the exercise
    or names a hidden concept gives way to the offline mind's, and whoever wrote it, it holds the help text word for
    word.

    Parameters
    ----------
    gm : Graphmem
    mind : Mind
    question : Respond, with its danger and help text
    on_token : as in `handle_turn`
    fog : what is hidden from the student
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
    """The same answer, its reply holding the help text."""
    reply = answer.value.reply
    if help_text in reply.text:
        return answer
    told = replace(reply, text=f"{reply.text.rstrip()} {help_text}", embedding=None, doc=None)
    return replace(answer, value=replace(answer.value, reply=told))
