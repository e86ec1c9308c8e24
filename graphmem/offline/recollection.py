"""Answers of the offline mind from memory: one thing the student asks for, or all that is remembered.

An answer is the best statement, said to the student; where none is good enough the mind says so.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import inf
from typing import NamedTuple
from zlib import crc32

import numpy as np

from graphmem.model import (
    ANYONE,
    SHOWN_AT_WORK,
    AskedFor,
    Aspect,
    Author,
    Heard,
    LedgerCategory,
    Memory,
    Message,
    Recalled,
    Remembered,
    SourceKind,
    Vector,
)
from graphmem.text.answering import ANSWERS, NEAREST, answer_fitness, asked_text
from graphmem.text.answers import asked_slot, stated_answer
from graphmem.text.arithmetic import equations
from graphmem.text.clauses import clauses
from graphmem.text.dating import day_ahead
from graphmem.text.doc import Doc, doc_of
from graphmem.text.introductions import after_introduction, introduced_name
from graphmem.text.lexicon import KIN, SECOND_PERSON
from graphmem.text.likeness import gist, is_said_by
from graphmem.text.orthography import is_tidy
from graphmem.text.profile import ASKED_AS_WHOLE, LAST_SESSION
from graphmem.text.query_parser import ASKING_STEMS, question_in
from graphmem.text.retelling import without_asides, without_lead_in
from graphmem.text.revision import USED_TO
from graphmem.text.sanitize import clean, quoted
from graphmem.text.second_person import to_first_person, to_second_person
from graphmem.text.slots import slot_of
from graphmem.text.stems import stem

READ_TOGETHER = 16
"""Statements that are read with a question, those nearest to it by meaning and words."""
SURELY = 0.7
"""Fitness from which on one answers though memory may not have been asked."""
SURELY_NEAR = 0.3
"""Cosine with the question that it needs then: in the shipped chats the three that answered rightly have more; of 61
that 18 tutoring messages ("Did I get it right?") brought up, nearly all wrongly, 32 have less."""
NEARLY = 0.4
"""Difference of fitness within which the newer statement answers."""
SLOT_FIT = 2.0
"""How much more what tells the attribute that is asked for fits."""
PAST_FIT = 1.2
"""How much less what holds no longer fits."""
MOST_TOLD = 5
"""Most statements told to somebody who asks for all of them."""
TOLD_CHARACTERS = 120
"""Characters of the longest statement that is told."""
_OWN_WORDS = frozenset({"i", "me", "my", "mine", "i'm", "im", "we", "our", "us"})
_COMPANION = frozenset({"yourself", "urself"})
_TELLS_MORE = re.compile(r"(?:she|he|it|they)(?:'s|'re)?\b")
WORDS_OF_ITSELF = 2
"""Words of a message from which on it may tell something without the question that it answers."""
_YOU_SAY = re.compile(r"^you (?:say|ask)(?: that|:)? (?=you\b|your\b)")
_SAYS = re.compile(r"^you (?:say|ask)\b")
"""What is better told in the student's own words."""
_THAT = re.compile(r"^you say(?: that|:) ")
_DIGITS = re.compile(r"\d+")
_COUNTS = r"\bhow (?:long|many (?:more )?(?:days|sleeps|nights|weeks))\b"
_HOW_LONG = re.compile(rf"{_COUNTS}(?!.*\bago\b)")
_UNTIL = re.compile(rf"{_COUNTS}.*\b(?:until|till|til|left|before|to go|do we have)\b")
_OF_PAST = re.compile(
    r"\b(?:before(?:\W*$| (?:i|we|the new|that|they changed|it (?:changed|moved)))|at first|original(?:ly)?"
    r"|used to|initially|previous(?:ly)?|(?:in|at|from) the (?:very )?(?:beginning|start)"
    r"|first (?:have|had|told|say|said|want|wanted))\b"
)
"""What asks for what held before something changed."""
_WHO = re.compile(r"^\W*(?:and |so )?who(?:['’]?s| is| was) (?P<name>[\w-]+)\W*$")
_WORK_ASKED_FOR = {AskedFor.STRUGGLES: Aspect.MISCONCEPTION, AskedFor.STRENGTHS: Aspect.UNDERSTANDING}

FOUND = (
    "You told me{when} that {said}.",
    "As far as I remember, {said}.",
    "I remember that {said}.",
)
PAST = ("It used to be so: {said}.", "That is over, as far as I know: {said}.")
FOUND_QUOTE = ("You told me{when}: {quote}.", "This is what I have noted{when}: {quote}.")
YOUR_NAME = "Your name is {name}."
DAYS_LEFT = "That is in {days}, as far as I know: {quote}."
ALL = ("This is what I remember about you: {list}.", "You told me a few things: {list}.", "I remember this: {list}.")
LAST_TIME = (
    "Last time, on {when}, you told me this: {list}. Shall we go on from there?",
    "This is what I have from {when}: {list}. What would you like to go on with?",
)
NOT_THAT = "I am not sure that I have this noted. What comes nearest:"
NOTHING = (
    "I don't have that noted. Will you tell me?",
    "That I don't know: you have not told me, or I did not note it.",
    "I have nothing noted about that. What is it?",
)
NOTHING_AT_ALL = (
    "I don't have anything noted about you yet. What should I know?",
    "So far I know nothing about you. What would you like me to remember?",
)


@dataclass(frozen=True)
class Recollection:
    """Something the student told: how near it is to the question, when it was told, and whether it still holds.

    words : the student's own, where `text` is not
    """

    text: str
    at: datetime
    cosine: float
    secret: bool = False
    past: bool = False
    words: str = ""


class Wanted(NamedTuple):
    """What a message asks for.

    question : the question in it
    stems : of the telling words of the question
    slot : the attribute of the student that it asks for, if it is one
    text : what is read with the statements
    """

    question: Doc
    stems: frozenset[str]
    slot: str | None
    text: str


class Read(NamedTuple):
    """A statement that was read with a question: log odds that it answers it, and whether it tells the attribute that
    is asked for."""

    statement: Recollection
    fitness: float
    tells: bool


def answer_from_memory(
    messages: Sequence[Message], remembered: Remembered, *, if_known: bool = False, at_work: bool = False
) -> str:
    """An answer to a question for what is remembered; empty where the student asks for something else.

    Parameters
    ----------
    messages : sequence of Message, oldest first, the student's newest last, with embeddings where there are any
    remembered : Remembered; `asked_for` says what the question asks for
    if_known : bool; empty, too, where nothing remembered answers
    at_work : bool; the talk is about an exercise, and what is said in it is worked with, not told again, but for what
        tells an attribute of the student

    Examples
    --------
    >>> from datetime import UTC
    >>> at = datetime(2026, 1, 1, tzinfo=UTC)
    >>> said = [Message(Author.STUDENT, "What's my name?", at)]
    >>> answer_from_memory(said, Remembered(name="Kim", asked_for=AskedFor.OWN))
    'Your name is Kim.'
    >>> answer_from_memory(said, Remembered(asked_for=AskedFor.OWN)) in NOTHING, answer_from_memory(said, Remembered())
    (True, '')
    """
    doc = doc_of(messages[-1])
    own = asks_of_oneself(doc)
    start = crc32(f"{len(messages)} {doc.text[:600]}".encode("utf-8", "replace"))
    question = question_in(doc)
    wanted = Wanted(question, question.stems - ASKING_STEMS, asked_slot(question.text), asked_text(doc))
    if own and remembered.asked_for is AskedFor.LAST_TIME:
        return _last_time(remembered, start)
    if own and stem("family") in question.stems and (kin := _family(messages, remembered)):
        return _chosen(ALL, start).format(list="; ".join(kin))
    talk = told_before(messages)
    said = [each for each in talk if not at_work or (own and _slot(Doc(each.text).excerpt) is not None)]
    told = [*_statements(remembered), *said]
    if remembered.asked_for is AskedFor.OTHER or (at_work and not (own or _names_somebody_known(question, told))):
        if remembered.asked_for is AskedFor.OTHER and not SECOND_PERSON.isdisjoint(question.plain_words):
            # "Can you help me with fractions?" asks the companion.
            return ""
        sure = _hardly_asked(wanted, [each for each in told if not each.secret], remembered)
        return "" if sure is None else _told(doc, sure, remembered.today, start)
    if own and wanted.stems == {stem("name")} and (name := remembered.name or _name_told(messages, remembered)):
        return YOUR_NAME.format(name=clean(name))
    if remembered.asked_for is AskedFor.OVERVIEW:
        sure = _best(wanted, [each for each in told if not each.secret], SURELY, remembered.today)
        return _overview(messages, remembered, start) if sure is None else _told(doc, sure, remembered.today, start)
    if shown := _asked_of_work(remembered):
        return _chosen(ALL, start).format(list="; ".join(shown))
    read = _read(wanted, told, remembered.today)
    if (best := _fittest(wanted, read, ANSWERS)) is not None:
        return _told(doc, best, remembered.today, start)
    if if_known:
        return ""
    near = _fittest(wanted, [each for each in read if not each.statement.secret], NEAREST)
    nothing = _chosen(NOTHING, start)
    return nothing if near is None else f"{NOT_THAT} {_told(doc, near, remembered.today, start)}"


def _hardly_asked(wanted: Wanted, told: Sequence[Recollection], remembered: Remembered) -> Recollection | None:
    """What answers a message at work, or one that may not ask for what is remembered at all."""
    if remembered.asked_for is not AskedFor.OTHER:
        return _best(wanted, told, ANSWERS, remembered.today)
    # A number alone tells nothing by itself.
    near = [each for each in told if each.cosine >= SURELY_NEAR and any(map(str.isalpha, each.text))]
    return _best(wanted, near, SURELY, remembered.today)


def _family(messages: Sequence[Message], remembered: Remembered) -> list[str]:
    """What the student told of relatives, secrets apart."""
    told = [*_statements(remembered), *told_before(messages)]
    return _listed(each for each in told if not (each.secret or KIN.isdisjoint(Doc(each.text).plain_words)))


def _names_somebody_known(question: Doc, told: Sequence[Recollection]) -> bool:
    """True if a question names what the student has told of: "What is Mert's sister called?"."""
    names = {entity.name.casefold() for entity in question.entities}
    return any(name in each.text.casefold() for name in names for each in told)


def asks_of_oneself(doc: Doc) -> bool:
    """True if a question, or one among other sentences, has a word for who asks it.

    Examples
    --------
    >>> asks_of_oneself(Doc("What do you know about me?")), asks_of_oneself(Doc("I cook. What can you do?"))
    (True, False)
    >>> asks_of_oneself(Doc("i am good and how are you?")), asks_of_oneself(Doc("Tell me about yourself?"))
    (False, False)
    """
    pieces = [Doc(doc.excerpt.text[slice(*span)]) for span in clauses(doc.excerpt)]
    asking = [frozenset(each.plain_words) for each in [each for each in pieces if each.asks] or [doc]]
    return any(not _OWN_WORDS.isdisjoint(words) and _COMPANION.isdisjoint(words) for words in asking)


def _name_told(messages: Sequence[Message], remembered: Remembered) -> str:
    """The name that the student gave last; empty where none was given."""
    told = sorted(
        [*_statements(remembered), *told_before(messages)], key=lambda each: each.at.timestamp(), reverse=True
    )
    return next((name for each in told if (name := introduced_name(each.text))), "")


def _last_time(remembered: Remembered, start: int) -> str:
    """What the student told when they were last here, and what their work showed."""
    last = [each for each in remembered.memories if LAST_SESSION in each.why]
    said = (_of_memory(each, remembered) for each in last if each.memory.is_own_word)
    shown = (_of_work(each.memory, remembered) for each in last if each.memory.aspect in SHOWN_AT_WORK)
    told = _listed((*(each for each in said if not each.secret), *shown))
    if not told:
        return _chosen(NOTHING, start)
    at = last[-1].memory.timestamp
    return _chosen(LAST_TIME, start).format(when=f"{at.day} {at:%B}", list="; ".join(told))


def _statements(remembered: Remembered) -> Iterable[Recollection]:
    for entry in remembered.ledger:
        if entry.category is not LedgerCategory.INSTRUCTION or entry.given_by is SourceKind.CHAT:
            secret = entry.category is LedgerCategory.SECRET
            cosine = remembered.similarity.get(entry.id, 0.0)
            yield Recollection(entry.content or "", entry.created_at, cosine, secret)
    for recalled in (*remembered.profile, *remembered.memories):
        if recalled.memory.is_own_word:
            yield _of_memory(recalled, remembered)
    if remembered.today is not None:
        for turn in remembered.turns:
            yield Recollection(turn.text, remembered.today, turn.similarity)


def _of_memory(recalled: Recalled, remembered: Remembered) -> Recollection:
    memory = recalled.memory
    if memory.invalid_at is not None and memory.original:
        text = _of_the_student(replace(memory, content=memory.original), remembered)
        return Recollection(text, memory.timestamp, recalled.similarity, memory.id in remembered.secrets, past=True)
    content, quote = _of_the_student(memory, remembered), without_lead_in(memory.quote or "")
    # The student's own words turn to the student more surely, but for days, which have been reckoned since.
    doc = Doc(quote)
    today = remembered.today is not None and memory.timestamp.date() == remembered.today.date()
    # A clause of a sentence begins and ends anyhow.
    tidy = is_tidy(quote) or (any(map(str.isupper, quote)) and is_tidy(f"{quote[:1].upper()}{quote[1:].rstrip('.')}."))
    own = tidy and not (doc.asks or _OWN_WORDS.isdisjoint(doc.plain_words)) and (today or not doc.time_words)
    secret = memory.id in remembered.secrets
    if own:
        return Recollection(quote, memory.timestamp, recalled.similarity, secret)
    return Recollection(content, memory.timestamp, recalled.similarity, secret, words=quote)


def told_before(messages: Sequence[Message]) -> Iterable[Recollection]:
    """What the student said in the conversation itself without asking, which no context repeats."""
    asked = messages[-1].embedding
    for before, message in zip((None, *messages), messages[:-1], strict=False):
        if message.author is not Author.STUDENT or message.embedding is None or asked is None:
            continue
        if not doc_of(message).asks:
            # "manhattan" tells nothing without the question that it answers.
            question = "" if before is None or before.author is Author.STUDENT else before.text
            said = stated_answer(Heard(message.text, message.at, before=question, doc=message.doc))
            if said or len(doc_of(message).words) >= WORDS_OF_ITSELF:
                yield Recollection(said or message.text, message.at, _cosine(asked, message.embedding))


def _cosine(one: Vector, other: Vector) -> float:
    return float(np.dot(one, other))


def _share(wanted: Wanted, doc: Doc) -> float:
    """Share of the words of a question that a statement holds; 1 where it tells the attribute that is asked for."""
    # "The student lives" and "I live" are one word only when both are said to the student.
    to_student = to_second_person(doc.text)
    slot = _slot(doc)
    if slot is not None and slot == wanted.slot:
        return 1.0
    held = doc.stems | Doc(to_student).stems | Doc(slot or "").stems
    return len(wanted.stems & held) / len(wanted.stems) if wanted.stems else 0.0


def _slot(doc: Doc) -> str | None:
    """The attribute that a statement tells, of the student or in the student's words; None of what used to be so."""
    if USED_TO.search(doc.plain):
        return None
    return slot_of(doc) or slot_of(Doc(to_first_person(doc.text)))


def _best(
    wanted: Wanted, statements: Iterable[Recollection], least: float, today: datetime | None
) -> Recollection | None:
    """The statement that fits a question best, if as well as that."""
    return _fittest(wanted, _read(wanted, statements, today), least)


def _read(wanted: Wanted, statements: Iterable[Recollection], today: datetime | None) -> list[Read]:
    """The statements nearest to a question, as they were read with it.

    How long it is until something only a statement with a day ahead can say.
    """
    question = wanted.question
    own, counts = gist(question.text), _UNTIL.search(question.plain) is not None
    held = []
    for statement in statements:
        if counts and today is not None and day_ahead(statement.text, today) is None:
            continue
        doc = Doc(statement.text).excerpt
        asks = doc.asks or statement.text.rstrip().endswith("?")
        if not (asks or equations(statement.text) or gist(statement.text) == own):
            held.append((statement.cosine + _share(wanted, doc) / 2, statement))
    near = [each for _, each in sorted(held, key=lambda pair: -pair[0])[:READ_TOGETHER]]
    if (asked := _WHO.match(question.plain)) is not None:
        named = _who_is(asked["name"], near)
        return [] if named is None else [Read(named, inf, tells=False)]
    tells = [wanted.slot is not None and _slot(Doc(each.text).excerpt) == wanted.slot for each in near]
    fitness = answer_fitness(wanted.text, [each.text for each in near], [each.cosine for each in near])
    return [Read(each, fit + SLOT_FIT * own, own) for each, fit, own in zip(near, fitness, tells, strict=True)]


def _fittest(wanted: Wanted, read: Sequence[Read], least: float) -> Recollection | None:
    """The statement that fits best, if as well as that; of those that nearly do so what holds, and the newest, or what
    held before, and the oldest, where that is asked for.

    What tells the attribute that is asked for goes before all else.
    """
    of_past = _OF_PAST.search(wanted.question.plain) is not None
    scored = [
        (each.fitness - PAST_FIT * (each.statement.past is not of_past), each) for each in read if each.fitness >= least
    ]
    if not scored:
        return None
    # Of what tells one attribute the newest holds, however well it is put.
    of_slot = [each.statement for _, each in scored if each.tells and each.statement.past is of_past]
    top = max(fit for fit, _ in scored)
    nearly = [each.statement for fit, each in scored if fit >= top - NEARLY]
    best = sorted(of_slot or nearly, key=lambda statement: statement.at.timestamp())
    return best[0 if of_past else -1]


def _who_is(name: str, statements: Sequence[Recollection]) -> Recollection | None:
    """The first statement that says who somebody is ("my friend Zara", "a dog called Bo"), else one that names them."""
    escaped = re.escape(name)
    owner = r"(?:my|our|his|her|their|[\w-]+['’]s)"
    before = rf"\b(?:{owner}(?: [\w-]+){{1,3}},?|called|named) {escaped}\b"
    behind = rf"\b{escaped}(?: is|'s|,) (?:{owner}|an?|the)\b"
    named = [each for each in statements if re.search(rf"\b{escaped}\b", each.text, re.IGNORECASE)]
    introduced = [each for each in named if re.search(f"{before}|{behind}", each.text, re.IGNORECASE)]
    return next(iter(introduced or named), None)


def _told(question: Doc, statement: Recollection, today: datetime | None, start: int) -> str:
    """A statement said to the student, whole where it is short, or else quoted; with its day where that is another."""
    sentences = Doc(statement.text).excerpt.sentences
    whole = len(statement.text) <= TOLD_CHARACTERS
    place = 0 if whole else max(range(len(sentences)), key=lambda i: len(sentences[i].stems & question.stems))
    sentence = without_asides(sentences[place].text)
    at = statement.at
    when = "" if today is None or at.date() == today.date() else f" on {at.day} {at:%B}"
    said = _YOU_SAY.sub("", clean(to_second_person(sentence)))
    day = day_ahead(statement.text, today) if today is not None and _HOW_LONG.search(question.plain) else None
    if day is not None and today is not None:
        left = (day.date() - today.date()).days
        days = "1 day" if left == 1 else f"{left} days"
        return DAYS_LEFT.format(days=days, quote=quoted(said or sentence.rstrip("."), TOLD_CHARACTERS, 25))
    more = [each.text for each in sentences[place + 1 :] if whole or _TELLS_MORE.match(each.plain)]
    if statement.past and said:
        return _chosen(PAST, start).format(said=said)
    if statement.words and _SAYS.match(said) and _DIGITS.findall(said) == _DIGITS.findall(statement.words):
        return _chosen(FOUND_QUOTE, start).format(when=when, quote=quoted(statement.words, TOLD_CHARACTERS, 25))
    if not said.lower().startswith(("you ", "your ")) or len(said) > TOLD_CHARACTERS:
        # "The student" is what a memory calls whom it is told to.
        words = statement.words or " ".join([said if ANYONE in sentence and said else sentence, *more])
        return _chosen(FOUND_QUOTE, start).format(when=when, quote=quoted(words, TOLD_CHARACTERS, 25))
    said = _THAT.sub("", said)
    return _chosen(FOUND, start).format(when=when, said=". ".join([said, *map(_turned, more)]).rstrip(". "))


def _turned(sentence: str) -> str:
    """A sentence that goes on, said to the student where it is about them."""
    said = clean(to_second_person(sentence)) or clean(sentence).rstrip(". ")
    return said[:1].upper() + said[1:]


def _overview(messages: Sequence[Message], remembered: Remembered, start: int) -> str:
    """What is remembered, in a few statements; secrets and worked steps are not told."""
    items = [*_statements(remembered), *told_before(messages)]
    told = _listed((item for item in items if not item.secret), remembered.name)
    return _chosen(ALL, start).format(list="; ".join(told)) if told else _chosen(NOTHING_AT_ALL, start)


def _asked_of_work(remembered: Remembered) -> list[str]:
    """What was hard for the student, or what they have understood, whichever is asked for."""
    aspect = _WORK_ASKED_FOR.get(remembered.asked_for)
    if aspect is None:
        return []
    shown = [each.memory for each in remembered.memories if each.memory.aspect is aspect or ASKED_AS_WHOLE in each.why]
    return _listed((_of_work(memory, remembered) for memory in shown), beginnings=())


def _of_work(memory: Memory, remembered: Remembered) -> Recollection:
    return Recollection(_of_the_student(memory, remembered), memory.timestamp, 0.0)


def _of_the_student(memory: Memory, remembered: Remembered) -> str:
    """What a memory says, with "the student" for the student's name."""
    content, name = memory.content or "", remembered.name
    return re.sub(rf"\b{re.escape(name)}(?=\s|'s\b)", ANYONE, content) if name else content


def _listed(
    statements: Iterable[Recollection],
    name: str | None = None,
    beginnings: tuple[str, ...] = ("you ", "your ", "on "),
) -> list[str]:
    """A few statements said to the student, none twice and no worked steps; with other beginnings they are left out."""
    told: list[str] = [] if not name else [f"your name is {clean(name)}"]
    known = [gist(name or "")]
    for statement in statements:
        own = after_introduction(statement.text, name) if name else statement.text
        text = max(Doc(own).excerpt.sentences, key=lambda each: len(each.stems), default=None)
        if text is None or text.asks or equations(text.text) or any(is_said_by(gist(text.text), k) for k in known):
            continue
        said = clean(to_second_person(text.text) or text.text.rstrip("."))
        fits = not beginnings or said.lower().startswith(beginnings)
        if fits and len(said) <= TOLD_CHARACTERS and len(told) < MOST_TOLD:
            told.append(said)
            known.append(gist(text.text))
    return told


def _chosen(wordings: Sequence[str], start: int) -> str:
    return wordings[start % len(wordings)]
