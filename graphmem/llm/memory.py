"""The memory prompt, the schema of its answer, its checks, and its conversion to our values (spec 7, 8, 17).

Checked is that a quote stands in a message, and that a statement names no number and nobody that the talk does not;
where it does, the quoted words are kept in its place. All other fields are mended: a wrong one never costs a note.

The instructions of the memory prompt never vary, so that a provider can cache them, and show no examples: models take
examples for things they heard. What people wrote stands between tags with its angle brackets escaped, each line of talk
on one line, so that nobody can speak in another's name.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from functools import cached_property
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ValidationInfo, WithJsonSchema, model_validator

from graphmem.language.encoder import named_in
from graphmem.llm.checks import Passage, TextList, filled, line, names_in, share
from graphmem.llm.prompts import Prompt, day_line, instructions
from graphmem.model import (
    Aspect,
    EdgeType,
    Effect,
    Entity,
    EntityKind,
    Heard,
    KnownItem,
    LedgerCategory,
    Lesson,
    Link,
    MemoryKind,
    Modality,
    Note,
    NotePlace,
    Notes,
    Remember,
    Scope,
    SourceKind,
)
from graphmem.text.doc import Doc
from graphmem.text.normalize import abridged, cleaned, one_line
from graphmem.text.quantities import quantities
from graphmem.text.revision import slot_of

MESSAGE_ENDS = (3_000, 1_500)
"""Characters of the beginning and of the end of a message that are shown; what lies between is not read."""
CONTEXT_CHARACTERS = 400
"""Characters of the task, and of each line that only serves to understand others."""
KNOWN_CHARACTERS = 160
FORESEEN_CHARACTERS = 100
_NAME = 40
_WHOSE = {
    SourceKind.CHAT: "student",
    SourceKind.LESSON: "lesson",
    SourceKind.PROMPT_RUN: "exercise",
    SourceKind.TEACHER: "teacher",
    SourceKind.SYSTEM: "system",
}


MAX_NOTES = 20
"""Most notes that are taken from one talk."""
FEWEST_WORDS = 3
"""Words that a quote needs to be kept in place of a statement that does not agree with the talk."""
NOTE_STATEMENT_CHARACTERS = 500
TOPICS, TRIGGERS, TAGS = 3, 8, 5
NOTED_CONFIDENCE = 0.8
"""Confidence in a stated memory: guesses and hints are not asked for."""
_KINDS = {
    "trait": (MemoryKind.TRAIT, Modality.SEMANTIC, None),
    "plan": (MemoryKind.TRAIT, Modality.EPISODIC, Aspect.PLAN),
    "event": (MemoryKind.EPISODE, Modality.EPISODIC, None),
    "feeling": (MemoryKind.TRAIT, Modality.EMOTIONAL, Aspect.FEELING),
    "understanding": (MemoryKind.CONCEPT, Modality.PROCEDURAL, Aspect.UNDERSTANDING),
    "misconception": (MemoryKind.CONCEPT, Modality.PROCEDURAL, Aspect.MISCONCEPTION),
}
_LEDGER_KINDS = {
    **{each.value: (each, Scope.OTHER) for each in LedgerCategory if each is not LedgerCategory.THREAT},
    **{each.value: (LedgerCategory.INSTRUCTION, each) for each in Scope},
    "rule": (LedgerCategory.INSTRUCTION, Scope.OTHER),
}
_NO_LEDGER = (None, Scope.OTHER)
_OWED = (LedgerCategory.PROMISE, LedgerCategory.DEBT)
_EFFECTS: dict[str, Effect | EdgeType] = {**{each.value: each for each in Effect}, "causes": EdgeType.CAUSES}
_LINK = re.compile(r"\b([a-z]+)\W+(n?)(\d{1,4})\b(?!-)")
_WHEN = re.compile(r"\b(from|until|due)\W+(\d{4})-(\d\d)(?:-(\d\d))?")
_THE_STUDENT = "student"
_MONTH_NAME = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?"
_ANY_DATE = re.compile(
    r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b|\b\d{4}-\d\d(?:-\d\d)?\b"
    rf"|\b(?:\d{{1,2}}(?:st|nd|rd|th)? )?(?:of )?{_MONTH_NAME}(?: \d{{1,2}}(?:st|nd|rd|th)?\b)?(?:,? \d{{4}})?"
    r"|\b(?:spring|summer|autumn|fall|winter)(?: of)? \d{4}\b|\b(?:19|20)\d\d\b",
    re.IGNORECASE,
)
_YEARS = re.compile(r"\b(?:19|20)\d\d\b")
_LEDGER_WORDS = ("none", "promise", "secret", "debt", "fact", "observation", "style", "pace", "content", "name", "rule")


@dataclass(frozen=True)
class TalkLine:
    """A line of talk as a model is shown it.

    message : place of the message that it is, in the question; None for a line that is context only
    """

    speaker: str
    text: str
    message: int | None = None


def talk_lines(heard: Sequence[Heard]) -> list[TalkLine]:
    """Lines of talk: the messages, each with the messages before and after it.

    Examples
    --------
    >>> from datetime import datetime, UTC
    >>> at = datetime(2026, 1, 5, tzinfo=UTC)
    >>> heard = (Heard("4", at, before="2 + 2?", reply="Yes."), Heard("Bye", at, before="Yes."))
    >>> [(line.speaker, line.text, line.message) for line in talk_lines(heard)]
    [('tutor', '2 + 2?', None), ('student', '4', 0), ('tutor', 'Yes.', None), ('student', 'Bye', 1)]
    """
    lines: list[TalkLine] = []
    for place, message in enumerate(heard):
        between = "tutor" if message.kind is SourceKind.CHAT and message.speaker is None else "before"
        _add(lines, between, message.before)
        lines.append(TalkLine(_speaker(message), message.text, place))
        _add(lines, "tutor", message.reply)
    return lines


def _add(lines: list[TalkLine], speaker: str, text: str) -> None:
    """Add another speaker's message, unless it is the last line already."""
    if text.strip() and (not lines or lines[-1].text != text):
        lines.append(TalkLine(speaker, text))


def _speaker(message: Heard) -> str:
    name = abridged(one_line(message.speaker or ""), _NAME)
    return name or _WHOSE[message.kind]


def memory_prompt(question: Remember) -> Prompt:
    """Prompt for what in a few messages is worth remembering.

    Examples
    --------
    >>> from datetime import datetime, UTC
    >>> heard = Heard("I <3 maths", datetime(2026, 1, 5, tzinfo=UTC), before="Hello!")
    >>> print(memory_prompt(Remember((heard,))).question)
    <talk>
    1 tutor: Hello!
    <day>Monday, 2026-01-05, 00:00</day>
    2* student: I &lt;3 maths
    </talk>
    """
    return Prompt(instructions("memory"), "\n".join(_material(question)))


def _material(question: Remember) -> Iterator[str]:
    heard = question.heard
    if question.known:
        yield "<known>"
        yield from (_known(number, item) for number, item in enumerate(question.known, start=1))
        yield "</known>"
    if question.asked:
        yield f"<asked>{one_line(' '.join(question.asked))}</asked>"
    if task := next((each.task for each in reversed(heard) if each.task), ""):
        yield f"<task>{one_line(abridged(task, CONTEXT_CHARACTERS))}</task>"
    if name := next((each.student for each in heard if each.student), ""):
        yield f"<student>{one_line(name)}</student>"
    yield "<talk>"
    day = None
    for number, said in enumerate(talk_lines(heard), start=1):
        message = None if said.message is None else heard[said.message]
        if message is not None and message.at.date() != day:
            day = message.at.date()
            yield day_line(message.at)
        mark = "" if message is None else "*"
        yield f"{number}{mark} {one_line(said.speaker)}: {one_line(_abridged(said))}{_unexpected(message)}"
    yield "</talk>"


def _known(number: int, item: KnownItem) -> str:
    label = f", {item.label}" if item.label else ""
    # It holds to the end of a day, which is the beginning of the next.
    until = "" if item.until is None else f", until {item.until - timedelta(seconds=1):%Y-%m-%d}"
    return f"{number} ({item.at:%Y-%m-%d}{label}{until}) {one_line(abridged(item.text, KNOWN_CHARACTERS))}"


def _unexpected(message: Heard | None) -> str:
    if message is None or message.violated is None:
        return ""
    return f" (unexpected; foreseen: {one_line(abridged(message.violated.predicted, FORESEEN_CHARACTERS))})"


def _abridged(line: TalkLine) -> str:
    if line.message is None:
        return abridged(line.text, CONTEXT_CHARACTERS)
    head, tail = MESSAGE_ENDS
    return line.text if len(line.text) <= head + tail else f"{abridged(line.text, head)} {line.text[-tail:]}"


def _word_among(options: Sequence[str], otherwise: str) -> BeforeValidator:
    def read(value: Any) -> str:
        word = line(value).strip("\"'").casefold()
        return word if word in options else otherwise

    return BeforeValidator(read)


def _enum_schema(*words: str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "enum": list(words)})


class NoteItem(BaseModel):
    quote: Annotated[str, BeforeValidator(line)]
    statement: Annotated[str, BeforeValidator(lambda value: line(value, NOTE_STATEMENT_CHARACTERS))]
    about: Annotated[str, BeforeValidator(line)]
    kind: Annotated[str, _word_among(tuple(_KINDS), "trait"), _enum_schema(*_KINDS)]
    ledger: Annotated[str, _word_among(tuple(_LEDGER_KINDS), "none"), _enum_schema(*_LEDGER_WORDS)]
    importance: Annotated[float | None, BeforeValidator(share), WithJsonSchema({"type": "number"})]
    links: TextList


def _items(values: Any) -> Any:
    """Items with every field, as far as they are items."""
    listed = values if isinstance(values, list) else []
    return [filled(NoteItem, value) for value in listed if isinstance(value, dict)][:MAX_NOTES]


def _inline(model: type[BaseModel]) -> WithJsonSchema:
    """Schema of a list of some items, written out in place: a reference costs more than it saves."""
    schema = {name: part for name, part in model.model_json_schema().items() if name != "title"}
    return WithJsonSchema({"type": "array", "items": schema})


class MemoryOutput(BaseModel):
    """The answer; validated with the talk as context, since one of which nothing can be used is asked for again."""

    notes: Annotated[list[NoteItem], BeforeValidator(_items), _inline(NoteItem)]
    learned: Annotated[str, BeforeValidator(line)]
    question: Annotated[str, BeforeValidator(line)]
    teach: Annotated[str, BeforeValidator(line)]

    @model_validator(mode="before")
    @classmethod
    def _with_every_field(cls, values: Any) -> Any:
        if isinstance(values, dict) and "notes" not in values:
            raise ValueError("notes: missing")
        return filled(cls, values)

    @model_validator(mode="after")
    def _is_used(self, info: ValidationInfo) -> "MemoryOutput":
        if isinstance(info.context, NotedTalk):
            found = noted(self, info.context)
            if found and all(isinstance(each, str) for each in found):
                raise ValueError(f"no note can be used ({'; '.join(sorted({str(each) for each in found}))})")
        return self


@dataclass(frozen=True)
class NotedTalk:
    """The talk that notes are held against, as a model was shown it."""

    question: Remember

    @cached_property
    def lines(self) -> list[TalkLine]:
        """Lines in the order of their numbers."""
        return talk_lines(self.question.heard)

    @cached_property
    def passages(self) -> list[Passage]:
        """The messages."""
        return [Passage(each.text) for each in self.question.heard]

    @cached_property
    def words(self) -> str:
        """Everything the model was shown, which notes may speak of."""
        heard = self.question.heard
        said = (each.text for each in self.lines)
        names = (f"{each.task}\n{each.speaker or ''}\n{each.student or ''}" for each in heard)
        return "\n".join((*said, *names, *(item.text for item in self.question.known)))

    @cached_property
    def beginnings(self) -> frozenset[str]:
        """The first four letters of its words, the same for most inflections."""
        return frozenset(word[:4] for word in re.findall(r"\w+", self.words.casefold()))

    @cached_property
    def shortened(self) -> frozenset[str]:
        """Letters of its abbreviations, such as ww of "ww1" and usa of "USA"."""
        words = re.findall(r"\w{2,}", self.words)
        return frozenset(w.rstrip("0123456789").casefold() for w in words if w.isupper() or w[-1].isdigit())

    @cached_property
    def numbers(self) -> frozenset[object]:
        """Values of the numbers in it; "14/20" gives 14, 20 and 0.7."""
        told = {quantity.value for text in self.words.splitlines() for quantity in quantities(text)}
        return frozenset({*told, *(int(digits) for digits in re.findall(r"\d{1,9}", self.words))})

    def place(self, quote: str) -> tuple[int, int, int] | None:
        """The first message in which a quote stands, and its span there."""
        for place, passage in enumerate(self.passages):
            if (span := passage.find(quote)) is not None:
                return place, *span
        return None

    def agrees(self, statement: str, at: datetime) -> bool:
        """True if a statement names no number and nobody that the talk does not.

        Dates of the years around the talk's own may be reckoned, and count for nothing.
        """
        dated = _ANY_DATE.sub(lambda date: "" if _is_near(date[0], at) else date[0], statement)
        named = [each for each in quantities(dated) if dated[each.start : each.start + 1].isdigit()]
        digits = {int(each) for each in re.findall(r"\d{1,9}", dated)}
        if any(each.value not in self.numbers for each in named) and not digits <= self.numbers:
            return False
        return all(self._names(name) for name in names_in(dated) if name[:1].isupper())

    def _names(self, name: str) -> bool:
        """True if the talk has the words of a name, or their initials."""
        words = re.findall(r"[^\W\d_]+", name)
        folded, initials = [word.casefold() for word in words], "".join(word[0] for word in words).casefold()
        told = all(word[:4] in self.beginnings or word in {_THE_STUDENT, "the", "tutor"} for word in folded)
        return told or (len(words) > 1 and any(each.startswith(initials) for each in self.shortened))


def _is_near(date: str, at: datetime) -> bool:
    return all(abs(int(year) - at.year) <= 1 for year in _YEARS.findall(date))


@dataclass(frozen=True)
class Noted:
    """A note whose words were found, in which message and where; the quote stands for a statement that is None."""

    place: int
    start: int
    end: int
    item: NoteItem
    statement: str | None


def noted(output: MemoryOutput, talk: NotedTalk) -> list[Noted | str]:
    """Every note, or the reason why it is refused."""
    return [_placed_note(item, talk) for item in output.notes]


def _placed_note(item: NoteItem, talk: NotedTalk) -> Noted | str:
    place = talk.place(item.quote)
    if place is None:
        return "quote: does not stand in a line marked *: copy the words exactly as they are there, in one piece"
    message, start, end = place
    heard = talk.question.heard[message]
    words = cleaned(heard.text[start:end])
    if item.statement and talk.agrees(item.statement, heard.at):
        return Noted(message, start, end, item, item.statement)
    if len(words.split()) < FEWEST_WORDS:
        return "statement: names a number or a name that the talk does not"
    return Noted(message, start, end, item, None)


def notes_of_answer(output: MemoryOutput, question: Remember) -> Notes:
    """Convert a validated answer to values; notes that say the same become one memory when they are kept.

    Parameters
    ----------
    output : MemoryOutput
    question : Remember

    Returns
    -------
    Notes, linked. Slot, entities and topics are read from statement and quote by rule

    Source: spec 7, 8, 17.

    Examples
    --------
    >>> question = Remember((Heard("Look, I skate!", datetime(2026, 1, 5, tzinfo=UTC)),))
    >>> told = {"quote": "i skate", "statement": "The student skates.", "kind": "habit", "links": ["same 9"]}
    >>> notes = notes_of_answer(MemoryOutput.model_validate({"notes": [told]}), question)
    >>> [(n.start, n.end, n.statement, n.kind.value, n.links) for n in notes.of[0]]
    [(6, 13, 'The student skates.', 'trait', ())]
    """
    talk = NotedTalk(question)
    kept: list[list[Noted]] = [[] for _ in question.heard]
    numbers: dict[int, NotePlace] = {}
    for number, each in enumerate(noted(output, talk), 1):
        if isinstance(each, Noted):
            numbers[number] = NotePlace(each.place, len(kept[each.place]))
            kept[each.place].append(each)
    of = tuple(
        tuple(_finished_note(each, heard, question, numbers) for each in own)
        for own, heard in zip(kept, question.heard, strict=True)
    )
    return Notes(of, True, tuple(_lessons(output.learned, question)), output.question, output.teach)


def _lessons(learned: str, question: Remember) -> Iterator[tuple[int, Lesson]]:
    """Return the lesson of the newest violated expectation."""
    places = [place for place, heard in enumerate(question.heard) if heard.violated is not None]
    if learned and places:
        tags = tuple(Doc(learned).key_phrases(TAGS)) or (_THE_STUDENT,)
        yield places[-1], Lesson(learned, tags)


def _finished_note(each: Noted, heard: Heard, question: Remember, numbers: dict[int, NotePlace]) -> Note:
    item, words = each.item, cleaned(heard.text[each.start : each.end])
    kind, modality, aspect = _KINDS[item.kind]
    category, scope = _LEDGER_KINDS.get(item.ledger, _NO_LEDGER)
    doc = Doc(each.statement or words)
    entities = tuple(_entities(doc, item, heard))
    phrases = [phrase for phrase in doc.key_phrases(TRIGGERS) if _THE_STUDENT not in phrase.casefold()]
    when = dict(_dates(item.links, heard.at))
    # A promise that is due is not over: it stands until it is kept.
    due = None if category in _OWED else when.get("due")
    ends = when.get("until") or (due if item.kind == "plan" else None)
    expires = None if category is None else due or ends
    return Note(
        each.start,
        each.end,
        each.statement,
        modality,
        kind,
        aspect,
        NOTED_CONFIDENCE,
        item.importance,
        slot=slot_of(Doc(words), heard.speaker) if item.kind == "trait" else None,
        entities=entities,
        about=tuple(phrases[:TOPICS]),
        ledger=category,
        scope=scope,
        triggers=tuple(dict.fromkeys(phrases)),
        trigger_entities=tuple(dict.fromkeys(entity.name for entity in entities if entity.name[:1].isupper())),
        valid_at=when.get("from"),
        invalid_at=ends,
        due=expires if expires is not None and expires > heard.at else None,
        links=tuple(_links(item.links, question, numbers)),
    )


def _entities(doc: Doc, item: NoteItem, heard: Heard) -> Iterator[Entity]:
    """Whom and what a note names, and whom it is about; never the student."""
    own = {_THE_STUDENT, f"the {_THE_STUDENT}", (heard.student or "").casefold()}
    named = [entity for entity in named_in(doc.text) if entity.name.casefold() not in own]
    about = item.about[:80]
    if about and about.casefold() not in own and all(about.casefold() != e.name.casefold() for e in named):
        yield Entity(about, EntityKind.PERSON)
    yield from named


def _dates(links: Sequence[str], at: datetime) -> Iterator[tuple[str, datetime]]:
    """Moments that a note names: `from` the beginning of a day, `until` and `due` the end of one."""
    for word, year, month, day in (found.groups() for text in links for found in _WHEN.finditer(text.casefold())):
        try:
            first = datetime(int(year), int(month), int(day or 1), tzinfo=at.tzinfo or UTC)
        except ValueError:
            continue
        ahead = timedelta(days=1) if day else timedelta(days=31)
        last = first + ahead if day else (first + ahead).replace(day=1)
        if first.year < 9000:
            yield word, (datetime.combine(first, time(), first.tzinfo) if word == "from" else last)


def _links(links: Sequence[str], question: Remember, numbers: dict[int, NotePlace]) -> Iterator[Link]:
    """Links that lead somewhere, each once."""
    found = (match.groups() for text in links for match in _LINK.finditer(text.casefold()))
    for word, own, digits in dict.fromkeys(found):
        effect, number = _EFFECTS.get(word), int(digits)
        if effect is None:
            continue
        if own and number in numbers:
            yield Link(effect, note=numbers[number])
        elif not own and 0 < number <= len(question.known):
            yield Link(effect, question.known[number - 1].id)
