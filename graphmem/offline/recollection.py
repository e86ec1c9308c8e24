"""Answers of the offline mind from memory: one thing the student asks for, or all that is remembered.

An answer is the best statement, said to the student; where none is good enough the mind says so.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from zlib import crc32

import numpy as np

from graphmem.model import (
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
    Vector,
)
from graphmem.text.answers import asked_slot, stated_answer
from graphmem.text.arithmetic import equations
from graphmem.text.clauses import clauses
from graphmem.text.doc import Doc, doc_of
from graphmem.text.introductions import after_introduction, introduced_name
from graphmem.text.lexicon import KIN
from graphmem.text.likeness import gist, is_said_by
from graphmem.text.profile import LAST_SESSION
from graphmem.text.retelling import without_asides
from graphmem.text.revision import USED_TO
from graphmem.text.sanitize import clean, quoted
from graphmem.text.second_person import to_first_person, to_second_person
from graphmem.text.slots import slot_of
from graphmem.text.stems import stem

FITS = 0.75
"""Score from which on a statement answers: cosine with the question, and half the share of its words it holds."""
FITS_ALONE = 0.6
"""Cosine from which on it answers without a word of the question."""
NEARLY_WHOLE = 0.75
"""Share of the words of a question from which on a memory may answer, whatever the question was taken for."""
FITS_SURELY = 0.9
"""Score from which on it does."""
FITS_WHOLE = 0.1
"""Cosine from which on it answers where it holds every word of the question."""
LEDGER_COSINE = 0.4
"""Cosine that a ledger entry counts with: it came by its triggers, and is known to matter."""
NEARLY = 0.2
"""Difference of scores within which the newer statement answers."""
MOST_TOLD = 5
"""Most statements told to somebody who asks for all of them."""
TOLD_CHARACTERS = 120
"""Characters of the longest statement that is told."""
_ASKING = frozenset(map(stem, "remember know tell told said say called still again think mention already".split()))  # noqa: SIM905
_OWN_WORDS = frozenset({"i", "me", "my", "mine", "i'm", "im", "we", "our", "us"})
_COMPANION = frozenset({"yourself", "urself"})
_STUDENT = "The student"
_WHO = re.compile(r"^\W*(?:and |so )?who(?:['’]?s| is| was) (?P<name>[\w-]+)\W*$")
_WORK_ASKED_FOR = {AskedFor.STRUGGLES: Aspect.MISCONCEPTION, AskedFor.STRENGTHS: Aspect.UNDERSTANDING}

FOUND = (
    "You told me{when} that {said}.",
    "As far as I remember, {said}.",
    "I remember that {said}.",
)
FOUND_QUOTE = ("You told me{when}: {quote}.", "This is what I have noted{when}: {quote}.")
ALL = ("This is what I remember about you: {list}.", "You told me a few things: {list}.", "I remember this: {list}.")
LAST_TIME = (
    "Last time, on {when}, you told me this: {list}. Shall we go on from there?",
    "This is what I have from {when}: {list}. What would you like to go on with?",
)
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
    """Something the student told: how near it is to the question, and when it was told."""

    text: str
    at: datetime
    cosine: float
    secret: bool = False


class Wanted(NamedTuple):
    """What a question asks for: stems of its telling words, and the attribute of the student, if it is one."""

    stems: frozenset[str]
    slot: str | None = None


def answer_from_memory(messages: Sequence[Message], remembered: Remembered, *, if_known: bool = False) -> str:
    """An answer to a question for what is remembered; empty where the student asks for something else.

    Parameters
    ----------
    messages : sequence of Message, oldest first, the student's newest last, with embeddings where there are any
    remembered : Remembered; `asked_for` says what the question asks for
    if_known : bool; empty, too, where nothing remembered answers

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
    question = next((sentence for sentence in reversed(doc.excerpt.sentences) if sentence.asks), doc)
    wanted = Wanted(question.stems - _ASKING, asked_slot(question.text))
    if own and remembered.asked_for is AskedFor.LAST_TIME:
        return _last_time(remembered, start)
    if own and stem("family") in question.stems and (kin := _family(messages, remembered)):
        return _chosen(ALL, start).format(list="; ".join(kin))
    if not own or remembered.asked_for is AskedFor.OTHER:
        sure = _surely_answers(doc, wanted, remembered, told_before(messages) if own else ())
        return "" if sure is None else _told(doc, sure, remembered.today, start)
    if wanted.stems == {stem("name")} and (name := remembered.name or _name_told(messages, remembered)):
        return f"Your name is {clean(name)}."
    if remembered.asked_for is AskedFor.OVERVIEW:
        return _overview(messages, remembered, start)
    if told := _asked_of_work(remembered):
        return _chosen(ALL, start).format(list="; ".join(told))
    best = _best(doc, wanted, [*_statements(remembered), *told_before(messages)])
    if best is None and if_known:
        return ""
    return _chosen(NOTHING, start) if best is None else _told(doc, best, remembered.today, start)


def _family(messages: Sequence[Message], remembered: Remembered) -> list[str]:
    """What the student told of relatives, secrets apart."""
    told = [*_statements(remembered), *told_before(messages)]
    return _listed(each for each in told if not (each.secret or KIN.isdisjoint(Doc(each.text).plain_words)))


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
        if entry.category is not LedgerCategory.INSTRUCTION:
            secret = entry.category is LedgerCategory.SECRET
            yield Recollection(entry.content or "", entry.created_at, LEDGER_COSINE, secret)
    for recalled in (*remembered.profile, *remembered.memories):
        if recalled.memory.is_own_word:
            yield _of_memory(recalled, remembered)
    if remembered.today is not None:
        for turn in remembered.turns:
            yield Recollection(turn.text, remembered.today, turn.similarity)


def _of_memory(recalled: Recalled, remembered: Remembered) -> Recollection:
    memory = recalled.memory
    content, quote = _of_the_student(memory, remembered), memory.quote or ""
    # The student's own words turn to the student more surely, but for days, which have been reckoned since.
    doc = Doc(quote)
    today = remembered.today is not None and memory.timestamp.date() == remembered.today.date()
    own = bool(quote) and not _OWN_WORDS.isdisjoint(doc.plain_words) and (today or not doc.time_words)
    return Recollection(
        quote if own else content, memory.timestamp, recalled.similarity, memory.id in remembered.secrets
    )


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
            yield Recollection(said or message.text, message.at, _cosine(asked, message.embedding))


def _cosine(one: Vector, other: Vector) -> float:
    return float(np.dot(one, other))


def _surely_answers(
    question: Doc, wanted: Wanted, remembered: Remembered, said: Iterable[Recollection]
) -> Recollection | None:
    """What answers though memory may not have been asked: a memory, or what was said, with nearly all the words."""
    known = (*remembered.profile, *remembered.memories)
    told = [*(_of_memory(each, remembered) for each in known if each.memory.is_own_word), *said]
    # Words are compared only where all of them would do.
    near = [each for each in told if not each.secret and each.cosine + 1 / 2 >= FITS_SURELY]
    shares = [_share(wanted, Doc(each.text).excerpt) for each in near]
    sure = [
        each
        for each, share in zip(near, shares, strict=True)
        if share >= NEARLY_WHOLE and each.cosine + share / 2 >= FITS_SURELY
    ]
    return _best(question, wanted, [each for each in sure if not equations(each.text)])


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


def _best(question: Doc, wanted: Wanted, statements: Iterable[Recollection]) -> Recollection | None:
    """The statement that answers, of those nearly as good the newest.

    What tells the attribute that is asked for goes before all else.
    """
    own = gist(question.text)
    scored = []
    for statement in statements:
        doc = Doc(statement.text).excerpt
        if doc.asks or (gist(statement.text) == own):
            continue
        share = _share(wanted, doc)
        score = statement.cosine + share / 2
        whole = share == 1 and statement.cosine >= FITS_WHOLE
        if whole or (score >= FITS and share > 0) or statement.cosine >= FITS_ALONE:
            scored.append((score, statement))
    if not scored:
        return None
    if wanted.slot is not None:
        scored = [each for each in scored if _slot(Doc(each[1].text).excerpt) == wanted.slot] or scored
    scored = [each for each in scored if _introduces(each[1].text, question)] or scored
    top = max(score for score, _ in scored)
    return max((s for score, s in scored if score >= top - NEARLY), key=lambda s: s.at.timestamp())


def _introduces(text: str, question: Doc) -> bool:
    """True if a statement says who it is that a question asks for: "my best friend Zara", "Zara, a girl I met"."""
    asked = _WHO.match(question.plain)
    if asked is None:
        return False
    name = re.escape(asked["name"])
    owner = r"(?:my|our|his|her|their|[\w-]+['’]s)"
    before, behind = rf"\b{owner}(?: [\w-]+){{1,3}},? {name}\b", rf"\b{name}(?: is|,) (?:{owner}|an?|the)\b"
    return re.search(f"{before}|{behind}", text, re.IGNORECASE) is not None


def _told(question: Doc, statement: Recollection, today: datetime | None, start: int) -> str:
    """A statement said to the student, or else quoted, with its day where that is another one."""
    sentences = Doc(statement.text).excerpt.sentences
    sentence = without_asides(max(sentences, key=lambda each: len(each.stems & question.stems)).text)
    at = statement.at
    when = "" if today is None or at.date() == today.date() else f" on {at.day} {at:%B}"
    said = clean(to_second_person(sentence))
    if not said.lower().startswith(("you ", "your ")) or len(said) > TOLD_CHARACTERS:
        # "The student" is what a memory calls whom it is told to.
        words = said if _STUDENT in sentence and said else sentence
        return _chosen(FOUND_QUOTE, start).format(when=when, quote=quoted(words, TOLD_CHARACTERS, 25))
    return _chosen(FOUND, start).format(when=when, said=said)


def _overview(messages: Sequence[Message], remembered: Remembered, start: int) -> str:
    """What is remembered, in a few statements; secrets and worked steps are not told."""
    items = [*_statements(remembered), *told_before(messages)]
    told = _listed((item for item in items if not item.secret), remembered.name)
    return _chosen(ALL, start).format(list="; ".join(told)) if told else _chosen(NOTHING_AT_ALL, start)


def _asked_of_work(remembered: Remembered) -> list[str]:
    """What was hard for the student, or what they have understood, whichever is asked for."""
    aspect = _WORK_ASKED_FOR.get(remembered.asked_for)
    shown = [each.memory for each in remembered.memories if aspect is not None and each.memory.aspect is aspect]
    return _listed((_of_work(memory, remembered) for memory in shown), beginnings=())


def _of_work(memory: Memory, remembered: Remembered) -> Recollection:
    return Recollection(_of_the_student(memory, remembered), memory.timestamp, 0.0)


def _of_the_student(memory: Memory, remembered: Remembered) -> str:
    """What a memory says, with "the student" for the student's name."""
    content, name = memory.content or "", remembered.name
    return re.sub(rf"\b{re.escape(name)}(?=\s|'s\b)", _STUDENT, content) if name else content


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
