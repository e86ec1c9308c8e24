"""Groups of memories that are to become one memory each: the prompt, the schema of the answer, its checks (spec 13).

A summary that names somebody or a number of which none of its statements tells, or that is far too long, is refused;
rules summarise that group instead. Where all are refused the whole answer is.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated, Self

from pydantic import BaseModel, BeforeValidator, ValidationInfo, model_validator

from graphmem.llm.checks import NumberList, line, names_in
from graphmem.llm.prompts import Prompt, instructions
from graphmem.model import Digest, Memory, Summarise
from graphmem.text.doc import Doc
from graphmem.text.normalize import abridged, one_line
from graphmem.text.summary import DIGEST_CHARACTERS, subject_of, summarised_memories

LONGEST = DIGEST_CHARACTERS + 50
"""Characters from which on a summary is none."""
SHOWN_STATEMENT = 300


def summarise_prompt(question: Summarise) -> Prompt:
    """Prompt for the summaries of some groups of memories.

    Examples
    --------
    >>> summarise_prompt(Summarise(((), ()))).question.count("<group>")
    2
    """
    return Prompt(instructions("summary"), "\n".join(_groups_as_text(question)))


def _groups_as_text(question: Summarise) -> Iterator[str]:
    for group in question.groups:
        yield "<group>"
        if group:
            yield f"<about>{one_line(subject_of(group, question.student))}</about>"
        for number, memory in enumerate(group, start=1):
            text = one_line(abridged(memory.content or "", SHOWN_STATEMENT))
            yield f"{number} ({memory.timestamp:%Y-%m-%d}) {text}"
        yield "</group>"


class SummaryOutput(BaseModel):
    """The summary of one group."""

    summary: Annotated[str, BeforeValidator(lambda value: line(value, 2 * LONGEST))]
    says: NumberList


class SummariseOutput(BaseModel):
    """Summaries of all groups, in order."""

    summaries: list[SummaryOutput]

    @model_validator(mode="after")
    def _is_used(self, info: ValidationInfo) -> Self:
        if isinstance(info.context, Summarise):
            found = summary_items(self, info.context)
            if found and all(isinstance(each, str) for each in found):
                raise ValueError(f"no summary can be used ({'; '.join(sorted({str(each) for each in found}))})")
        return self


def digests(output: SummariseOutput, question: Summarise) -> tuple[Digest, ...]:
    """The summaries of some groups: those of an answer, and by rule where it has none that can be used."""
    return tuple(
        each if isinstance(each, Digest) else summarised_memories(group)
        for each, group in zip(summary_items(output, question), question.groups, strict=True)
    )


def summary_items(output: SummariseOutput, question: Summarise) -> list[Digest | str]:
    """The summaries of an answer; a text in place of one says why it is refused."""
    given: list[SummaryOutput | None] = [*output.summaries[: len(question.groups)]]
    given += [None] * (len(question.groups) - len(given))
    return [
        _digest(each, group, question.student) if each is not None else "a group has no summary"
        for each, group in zip(given, question.groups, strict=True)
    ]


def _digest(output: SummaryOutput, group: Sequence[Memory], student: str | None) -> Digest | str:
    days = (f"{memory.timestamp:%d %B %Y}" for memory in group)
    told, words = Doc(output.summary), Doc("\n".join([*(memory.words for memory in group), *days]))
    if not output.summary or len(output.summary) > LONGEST:
        return f"a summary is empty or longer than {LONGEST} characters"
    if unsaid := set(told.numbers) - set(words.numbers):
        return f"a summary has {len(unsaid)} numbers of which no statement tells"
    known = {*words.terms, *Doc(subject_of(group, student)).terms}
    if any(term not in known for name in names_in(output.summary) for term in Doc(name).terms):
        return "a summary names somebody or something that no statement names"
    says = tuple(sorted({number - 1 for number in output.says if 1 <= number <= len(group)}))
    return Digest(output.summary, says or tuple(range(len(group))))
