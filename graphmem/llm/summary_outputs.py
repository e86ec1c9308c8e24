"""Schema of a language model's summaries, and their conversion to our values (spec 13).

A summary that names somebody or a number of which none of its statements tells, or that is far too long, is refused;
rules summarise that group instead. Where all are refused the whole answer is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Self

from pydantic import BaseModel, ValidationInfo, model_validator

from graphmem.llm.outputs import Content, something_left
from graphmem.model import Digest, Memory, Summarise
from graphmem.text.doc import Doc
from graphmem.text.summary import DIGEST_CHARACTERS, subject_of, summarised_memories

__all__ = ["AskedGroups", "SummariseOutput", "digests", "summary_items"]

LONGEST = DIGEST_CHARACTERS + 50
"""Characters from which on a summary is none."""


@dataclass(frozen=True)
class AskedGroups:
    """Validation context of the answers: the question."""

    question: Summarise


class SummaryOutput(BaseModel):
    """The summary of one group."""

    summary: Content
    says: list[int]


class SummariseOutput(BaseModel):
    """Summaries of all groups, in order."""

    summaries: Annotated[list[SummaryOutput], "one for each group"]

    @model_validator(mode="after")
    def _is_used(self, info: ValidationInfo) -> Self:
        if isinstance(info.context, AskedGroups):
            something_left(_judged(self, info.context.question))
        return self


def summary_items(output: SummariseOutput, question: Summarise) -> Sequence[object]:
    """The summaries of an answer; a text in place of one says why it is refused."""
    return _judged(output, question)


def digests(output: SummariseOutput, question: Summarise) -> tuple[Digest, ...]:
    """The summaries of some groups: those of an answer, and by rule where it has none that can be used."""
    return tuple(
        each if isinstance(each, Digest) else summarised_memories(group)
        for each, group in zip(_judged(output, question), question.groups, strict=True)
    )


def _judged(output: SummariseOutput, question: Summarise) -> list[Digest | str]:
    given: list[SummaryOutput | None] = [*output.summaries[: len(question.groups)]]
    given += [None] * (len(question.groups) - len(given))
    return [
        _digest(each, group, question.student) if each is not None else "a group has no summary"
        for each, group in zip(given, question.groups, strict=True)
    ]


def _digest(output: SummaryOutput, group: Sequence[Memory], student: str | None) -> Digest | str:
    days = (f"{memory.timestamp:%d %B %Y}" for memory in group)
    told, words = Doc(output.summary), Doc("\n".join([*(memory.words for memory in group), *days]))
    if len(output.summary) > LONGEST:
        return f"a summary is longer than {LONGEST} characters"
    if unsaid := set(told.numbers) - set(words.numbers):
        return f"a summary has {len(unsaid)} numbers of which no statement tells"
    known = {*words.terms, *Doc(subject_of(group, student)).terms}
    if any(term not in known for entity in told.entities for term in Doc(entity.name).terms):
        return "a summary names somebody or something that no statement names"
    says = tuple(sorted({number - 1 for number in output.says if 1 <= number <= len(group)}))
    return Digest(output.summary, says or tuple(range(len(group))))
