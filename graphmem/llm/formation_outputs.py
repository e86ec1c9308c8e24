"""Schema of a language model's notes on a talk, and their conversion to our values (spec 7, 8).

A note needs words of a line that is to be read; one without is refused, and where all are, the whole answer is, so
that the model is asked to repair it. Its other fields are mended: what cannot be used of them never costs a memory.
What the note says beside its quote has to agree with the talk in numbers and names; where it does not, the quoted words
themselves are kept instead.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, PlainValidator, ValidationInfo, model_validator

from graphmem.llm.formation_prompt import TalkLine, talk_lines
from graphmem.llm.outputs import CONTENT, bare, distinct, listed_as, sameness, something_left, up_to
from graphmem.llm.quotes import Passage
from graphmem.model import (
    Aspect,
    Extract,
    Extraction,
    ExtractMemories,
    Heard,
    LedgerCategory,
    Memory,
    MemoryKind,
    Modality,
    Relation,
    Reminder,
)
from graphmem.text.discourse import relations
from graphmem.text.doc import Doc
from graphmem.text.normalize import cleaned
from graphmem.text.quantities import quantities
from graphmem.text.quoting import abridged
from graphmem.text.reminders import IMPORTANCE, summary_of
from graphmem.text.slots import slot_of

__all__ = ["NotedTalk", "NotesOutput", "extractions"]

MAX_NOTES = 20
"""Most notes that are taken from one talk."""
FEWEST_WORDS = 3
"""Words that a quote needs to be kept in place of a note that does not agree with the talk."""
BACKED = 1 / 3
"""Share of the words of what must never be forgotten that the talk has to have."""
NOTE_TOPICS = 3
TRIGGERS = 8
NOTED_CONFIDENCE = 0.8
"""Confidence in what a message says: guesses and hints are not asked for."""
_KINDS = {
    "trait": (MemoryKind.TRAIT, Modality.SEMANTIC, None),
    "plan": (MemoryKind.TRAIT, Modality.EPISODIC, Aspect.PLAN),
    "event": (MemoryKind.EPISODE, Modality.EPISODIC, None),
    "feeling": (MemoryKind.TRAIT, Modality.EMOTIONAL, Aspect.FEELING),
    "understanding": (MemoryKind.CONCEPT, Modality.PROCEDURAL, Aspect.UNDERSTANDING),
    "misconception": (MemoryKind.CONCEPT, Modality.PROCEDURAL, Aspect.MISCONCEPTION),
}
_STUDENT = "student"
_LINKS = ("new", "same", "refines", "ends")
_LEDGER = ("none", "promise", "secret", "debt", "danger", "fact", "instruction", "observation")
_DATE = re.compile(
    r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b|\b\d{4}-\d\d(?:-\d\d)?\b"
    r"|\b(?:\d{1,2}(?:st|nd|rd|th)? )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?"
    r"(?: \d{1,2}(?:st|nd|rd|th)?\b)?(?:,? \d{4})?"
)
_YEARS = re.compile(r"\b(?:19|20)\d\d\b")


@dataclass(frozen=True)
class NotedTalk:
    """The talk that notes are held against, as a model was shown it."""

    heard: tuple[Heard, ...]
    known: tuple[Memory, ...]

    @classmethod
    def of(cls, question: ExtractMemories) -> "NotedTalk":
        """The talk of a question."""
        return cls(question.heard, question.known)

    @cached_property
    def lines(self) -> list[TalkLine]:
        """Lines in the order of their numbers."""
        return talk_lines(self.heard)

    @cached_property
    def passages(self) -> dict[int, Passage]:
        """Messages that are to be read, by their places."""
        return {place: Passage(each.text) for place, each in enumerate(self.heard) if each.passes}

    @cached_property
    def words(self) -> str:
        """Everything the model was shown, which notes may speak of."""
        tasks = (each.task for each in self.heard)
        speakers = (each.speaker or "" for each in self.heard)
        known = (memory.content or "" for memory in self.known)
        return "\n".join((*(line.text for line in self.lines), *tasks, *speakers, *known))

    @cached_property
    def beginnings(self) -> frozenset[str]:
        """The first four letters of its words, the same for most inflections."""
        return frozenset(word[:4] for word in re.findall(r"\w+", self.words.casefold()))

    def place(self, quote: str) -> tuple[int, int, int] | None:
        """The first message in which a quote stands, and its span there."""
        for place, passage in self.passages.items():
            if (span := passage.find(quote)) is not None:
                return place, *span
        return None

    def backs(self, note: str, least: float) -> bool:
        """True if the talk has a word of a note, and at least a share of its content words."""
        told = [stem for stem in Doc(note).stems if stem != _STUDENT]
        shared = sum(stem[:4] in self.beginnings for stem in told)
        return shared > 0 and shared >= least * len(told)

    def agrees(self, note: str, at: datetime) -> bool:
        """True if a note names no number and nobody that the talk does not.

        Days may be reckoned: dates of the years around the talk's own count for nothing.
        """
        dated = _DATE.sub(lambda date: "" if _near(date, at) else date[0], note)
        told = {quantity.value for line in self.words.splitlines() for quantity in quantities(line)}
        numbers = [quantity for quantity in quantities(dated) if dated[quantity.start : quantity.start + 1].isdigit()]
        if any(number.value not in told for number in numbers):
            return False
        names = (entity.name for entity in Doc(dated).entities if entity.name[:1].isupper())
        words = [word for name in names for word in re.findall(r"\w+", name.casefold())]
        return all(word[:4] in self.beginnings or word in {_STUDENT, "the"} for word in words)


def _near(date: re.Match[str], at: datetime) -> bool:
    years = _YEARS.findall(date[0])
    return all(abs(int(year) - at.year) <= 1 for year in years)


def _choice(options: Sequence[str], otherwise: str) -> BeforeValidator:
    return BeforeValidator(lambda value: bare(value) if bare(value) in options else otherwise)


def _number(value: Any) -> int | None:
    if isinstance(value, str) and value.strip().isdigit():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(value: Any) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


class NoteItem(BaseModel):
    quote: Annotated[str, BeforeValidator(_text)]
    note: Annotated[str, BeforeValidator(_text)]
    kind: Annotated[
        Literal["trait", "plan", "event", "feeling", "understanding", "misconception"],
        _choice(tuple(_KINDS), "trait"),
    ]
    link: Annotated[Literal["new", "same", "refines", "ends"], _choice(_LINKS, "new")]
    known: Annotated[int | None, PlainValidator(_number, json_schema_input_type=int)]
    ledger: Annotated[
        Literal["none", "promise", "secret", "debt", "danger", "fact", "instruction", "observation"],
        _choice(_LEDGER, "none"),
    ]


@dataclass(frozen=True)
class Noted:
    """A note whose words were found: in which message, and where."""

    place: int
    start: int
    end: int
    content: str
    item: NoteItem


def _completed(values: Any) -> Any:
    """Items with every field, as far as they are items."""
    if not isinstance(values, list):
        return [] if values is None else values
    blank = dict.fromkeys(NoteItem.model_fields)
    return [blank | value for value in values if isinstance(value, dict)]


class NotesOutput(BaseModel):
    notes: Annotated[
        list[NoteItem], BeforeValidator(up_to(MAX_NOTES)), BeforeValidator(_completed), listed_as(NoteItem)
    ]

    @model_validator(mode="after")
    def _something_is_left(self, info: ValidationInfo) -> "NotesOutput":
        if not isinstance(info.context, NotedTalk):
            raise TypeError("validate with the talk as context: `context=NotedTalk.of(question)`")
        something_left(found_notes(self, info.context))
        return self


def found_notes(output: NotesOutput, talk: NotedTalk) -> list[Noted | str]:
    """Every note, or the reason why it is refused."""
    return [_found(item, talk) for item in output.notes]


def _found(item: NoteItem, talk: NotedTalk) -> Noted | str:
    place = talk.place(item.quote)
    if place is None:
        return "quote: does not stand in a line marked *: copy the words exactly as they are there, in one piece"
    message, start, end = place
    heard = talk.heard[message]
    words = cleaned(heard.text[start:end])
    note = item.note if len(item.note) <= CONTENT else abridged(item.note, CONTENT - len(" […]"))
    least = 0.0 if item.ledger == "none" else BACKED
    if note and talk.agrees(note, heard.at) and talk.backs(note, least):
        return Noted(message, start, end, note, item)
    if len(words.split()) < FEWEST_WORDS:
        return "note: names a number or a name that the talk does not"
    return Noted(message, start, end, words, item)


def extractions(output: NotesOutput, question: ExtractMemories) -> tuple[Extraction, ...]:
    """Convert validated notes to values; a note that says the same as an earlier one of its message is dropped.

    Parameters
    ----------
    output : NotesOutput                validated with `context=NotedTalk.of(question)`
    question : ExtractMemories

    Returns
    -------
    tuple of Extraction, one for each message. Where a memory belongs to life, its slot, entities and relations are
    read from note and quote by rule

    Source: spec 7, 8.

    Examples
    --------
    >>> from datetime import datetime, UTC
    >>> question = ExtractMemories((Heard("Look, I skate!", datetime(2026, 1, 5, tzinfo=UTC)),))
    >>> told = {"quote": "i skate", "note": "The student skates.", "kind": "habit", "ledger": "none"}
    >>> output = NotesOutput.model_validate({"notes": [told, told]}, context=NotedTalk.of(question))
    >>> [(m.start, m.end, m.content, m.kind.value) for m in extractions(output, question)[0].memories]
    [(6, 13, 'The student skates.', 'trait')]
    """
    talk = NotedTalk.of(question)
    noted: list[dict[str, Noted]] = [{} for _ in question.heard]
    for each in found_notes(output, talk):
        if isinstance(each, Noted):
            noted[each.place].setdefault(sameness(each.content), each)
    pairs = zip(noted, question.heard, strict=True)
    return tuple(_extraction(list(of_one.values()), heard, talk) for of_one, heard in pairs)


def _extraction(noted: Sequence[Noted], heard: Heard, talk: NotedTalk) -> Extraction:
    ordered = sorted(noted, key=lambda each: each.start)
    memories = tuple(_extract(each, heard, talk) for each in ordered)
    reminders = (_reminder(each) for each in ordered if each.item.ledger != "none")
    return Extraction(memories, _relations(ordered, memories, heard), tuple(reminders))


def _relations(noted: Sequence[Noted], memories: Sequence[Extract], heard: Heard) -> tuple[Relation, ...]:
    """How the words of a message hang together, where each memory has words of its own."""
    spans = [(each.start, each.end) for each in noted]
    if len(noted) < 2 or heard.passes < 2 or any(a[1] > b[0] for a, b in pairwise(spans)):
        return ()
    docs = [Doc(cleaned(heard.text[each.start : each.end])) for each in noted]
    return relations(docs, [memory.modality is Modality.EMOTIONAL for memory in memories], heard.passes)


def _extract(noted: Noted, heard: Heard, talk: NotedTalk) -> Extract:
    kind, modality, aspect = _KINDS[noted.item.kind]
    doc, words = Doc(noted.content), Doc(cleaned(heard.text[noted.start : noted.end]))
    entities = tuple(e for e in doc.entities if e.name.casefold() not in {_STUDENT, f"the {_STUDENT}"})
    linked = _linked(noted.item, talk)
    return Extract(
        noted.start,
        noted.end,
        noted.content,
        modality,
        kind,
        NOTED_CONFIDENCE,
        slot_of(words, heard.speaker) if noted.item.kind == "trait" else None,
        entities,
        tuple(doc.key_phrases(NOTE_TOPICS)),
        aspect,
        same=linked if noted.item.link == "same" else None,
        refines=linked if noted.item.link == "refines" else None,
        ends=linked if noted.item.link == "ends" else None,
    )


def _linked(item: NoteItem, talk: NotedTalk) -> str | None:
    number = item.known
    return talk.known[number - 1].id if number is not None and 0 < number <= len(talk.known) else None


def _reminder(noted: Noted) -> Reminder:
    ledger = noted.item.ledger
    category = LedgerCategory.THREAT if ledger == "danger" else LedgerCategory(ledger)
    doc = Doc(noted.content)
    names = [e.name for e in doc.entities if e.name[:1].isupper() and e.name.casefold() != _STUDENT]
    phrases = [phrase for phrase in doc.key_phrases(TRIGGERS) if _STUDENT not in phrase.casefold()]
    return Reminder(
        noted.start,
        noted.end,
        category,
        noted.content,
        summary_of(noted.content),
        IMPORTANCE[category],
        tuple(distinct(phrases)),
        tuple(distinct(names)),
    )
