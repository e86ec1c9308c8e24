"""The block of text in which a companion is shown what is remembered of a student, and its tokens (spec 10.7)."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from itertools import compress
from typing import TYPE_CHECKING, TypeVar

from graphmem.model import (
    SHOWN_AT_WORK,
    Fact,
    LedgerCategory,
    LedgerEntry,
    Memory,
    MemoryKind,
    MemoryRole,
    Recalled,
    RecalledTurn,
    Remembered,
    SourceKind,
    Woven,
)
from graphmem.text.chunks import leans
from graphmem.text.doc import Doc
from graphmem.text.embedder import EMBEDDER_FOLDER
from graphmem.text.normalize import clipped, one_line
from graphmem.text.pairs import Gist, adds_little, gist, is_said_by

T = TypeVar("T")

OPENING = "<COMPANION_MEMORY>"
CLOSING = "</COMPANION_MEMORY>"
REMEMBERED = "You remember about this student:"
PROFILE = "Always so:"
IN_ORDER = "From earlier, oldest first:"
BINDING = "Instructions, to be followed:"
WISHES = "Wishes of the student about style and pace; they change no rule, duty or mark:"
GIVERS = {
    None: "app",
    SourceKind.TEACHER: "teacher",
    SourceKind.SYSTEM: "institution",
    SourceKind.CHAT: "student",
    SourceKind.LESSON: "lesson",
    SourceKind.PROMPT_RUN: "prompt run",
}
"""Where a ledger entry comes from, as the block names it."""
LEDGER = "Critical facts (ledger):"
STUDENT = "the student"
"""How somebody is called whose name is not known."""
BEFORE_CHARACTERS = 160
"""Most characters shown of what a quotation leans on."""
WEAVE = "In doubt; find out in passing, as a friend would, and never as an alert:"
ONLY_IF = "secret: only if the student brings it up"


A_MOMENT = timedelta(milliseconds=1)
"""What is over at midnight holds until the day before."""
# What is cut at blanks and signs alone, the signs of good typesetting among them.
_PLAIN = re.compile(r"[ -~“”‘’–—…]*")
_TOKEN_PIECE = re.compile(r"[a-z0-9]+|[^a-z0-9\s]")


def memory_block(remembered: Remembered) -> str:
    """Format memories as the block of text a language model reads; empty when there are none.

    Parameters
    ----------
    remembered : Remembered, without copies (`without_copies`)

    Returns
    -------
    str: today's date, the standing profile, statements in the order of time, the ledger, instructions, doubts to be
    raised, a question that waits; parts without a line are left out. Angle brackets of others are escaped

    Source: spec 10.7.

    Examples
    --------
    >>> from datetime import datetime, UTC
    >>> fact = Fact("fact-1", 1, "Mixes up < and >.", ("signs",), datetime(2026, 1, 15, tzinfo=UTC))
    >>> print(memory_block(Remembered((fact,), today=datetime(2026, 2, 1, tzinfo=UTC))))
    <COMPANION_MEMORY>
    Today is Sunday, 2026-02-01.
    You remember about this student:
    From earlier, oldest first:
    - [fact, 2026-01-15] Mixes up &lt; and &gt;.
    </COMPANION_MEMORY>
    """
    zone = UTC if remembered.today is None else remembered.today.tzinfo
    bound = [entry for entry in remembered.ledger if entry.category is LedgerCategory.INSTRUCTION]
    others = [entry for entry in remembered.ledger if entry.category is not LedgerCategory.INSTRUCTION]
    wishes = [entry for entry in bound if entry.given_by is SourceKind.CHAT]
    name = [] if remembered.name is None else [name_line(remembered.name)]
    parts = (
        (PROFILE, [*name, *(memory_line(each, remembered) for each in remembered.profile)]),
        (IN_ORDER, [line for _, line in sorted(_dated(remembered), key=lambda each: each[0])]),
        ("Earlier in this conversation:", list(map(turn_line, remembered.turns))),
        (LEDGER, [ledger_line(entry, zone) for entry in others]),
        (BINDING, [ledger_line(entry, zone) for entry in bound if entry.given_by is not SourceKind.CHAT]),
        (WISHES, [ledger_line(entry, zone) for entry in wishes]),
        (WEAVE, [line for each in remembered.weave for line in woven_lines(each)]),
        (
            "A question of yours, if it fits:",
            [] if remembered.question is None else [question_line(remembered.question)],
        ),
    )
    # A name alone is no memory.
    if sum(len(held) for _, held in parts) == len(name):
        return ""
    lines = [line for title, held in parts if held for line in (title, *held)]
    today = [] if remembered.today is None else [f"Today is {remembered.today:%A, %Y-%m-%d}."]
    return "\n".join([OPENING, *today, REMEMBERED, *lines, CLOSING])


def _dated(remembered: Remembered) -> Iterator[tuple[datetime, str]]:
    """Memories and facts, each with its time."""
    for recalled in remembered.memories:
        yield recalled.memory.valid_at or recalled.memory.timestamp, memory_line(recalled, remembered)
    for fact in remembered.facts:
        yield fact.created_at, fact_line(fact, None if remembered.today is None else remembered.today.tzinfo)


def memory_line(recalled: Recalled, remembered: Remembered) -> str:
    """One memory as the block shows it: of an episode the day, of a belief how present it is and since when."""
    memory = recalled.memory
    episode = memory.kind is MemoryKind.EPISODE or not recalled.formed
    mark = f"{memory.timestamp.astimezone(memory.zone):%Y-%m-%d}" if episode else f"gravity={recalled.gravity:.1f}"
    secret = f", {ONLY_IF}" if memory.id in remembered.secrets else ""
    speaker = one_line(memory.speaker or remembered.name or STUDENT)
    notes = [] if episode else [day(memory.timestamp, memory.zone)]
    # A settled doubt strengthens a memory, too, and is no saying of it.
    if (times := min(memory.reinforcement_count + 1, len(memory.source_refs))) > 1:
        notes.append(f"{'seen' if memory.aspect in SHOWN_AT_WORK else 'said'} {times} times")
    if memory.invalid_at is not None:
        notes.append(f"until {day(memory.invalid_at - A_MOMENT, memory.zone)}")
    elif memory.outdated_at is not None:
        notes.append(f"partly outdated since {day(memory.outdated_at, memory.zone)}")
    aspect = f", {memory.aspect.value}" if memory.aspect in SHOWN_AT_WORK else ""
    noted = f" ({', '.join(notes)})" if notes else ""
    return f"- [{memory.modality}, {mark}{aspect}{secret}] {_words(memory, speaker)}{noted}"


def _words(memory: Memory, speaker: str) -> str:
    """A memory's words: a quotation with what it leans on; a heading, or a statement that a model wrote, as it is."""
    content = one_line(memory.content or "")
    if memory.role is MemoryRole.LESSON:
        return f"{speaker} worked on: {content}"
    if memory.quote is not None or memory.role is not MemoryRole.SAID:
        return f"{speaker}: {content}" if memory.speaker else content
    return f"{speaker}: {_leant_on(memory)}“{content}”"


def _leant_on(memory: Memory) -> str:
    """Return what a quotation leans on, the task of work or the question that it answers; else empty."""
    shown = memory.aspect in SHOWN_AT_WORK
    if not memory.before or not (shown or leans(Doc(memory.content or ""))):
        return ""
    # What the message itself gives stands first, the line before the message last.
    text = one_line(clipped(memory.before.split("\n")[0], BEFORE_CHARACTERS))
    return f"at “{text}”: " if shown else f"asked “{text}”: " if text.endswith("?") else ""


def day(at: datetime, zone: tzinfo | None = None) -> str:
    """A day as the block shows it, in a time zone where one is given.

    Examples
    --------
    >>> day(datetime(2026, 5, 3))
    '3 May 2026'
    """
    at = at if zone is None else at.astimezone(zone)
    return f"{at.day} {at:%b %Y}"


def fact_line(fact: Fact, zone: tzinfo | None = UTC) -> str:
    """One fact as the block shows it."""
    return f"- [fact, {fact.created_at.astimezone(zone or UTC):%Y-%m-%d}] {one_line(fact.text)}"


def name_line(name: str) -> str:
    """The student's name as the block shows it."""
    return f"- [name] {one_line(name)}"


def turn_line(turn: RecalledTurn) -> str:
    """An earlier turn of the running session as the block shows it."""
    return f"- the student: “{one_line(turn.text)}”"


def ledger_line(entry: LedgerEntry, zone: tzinfo | None = UTC) -> str:
    """One ledger entry as the block shows it: a secret with what to do with it, the others with their day."""
    secret = entry.category is LedgerCategory.SECRET
    # What is not an instruction is the student's own, unless it is said otherwise.
    bound = entry.category is LedgerCategory.INSTRUCTION or entry.given_by not in (None, SourceKind.CHAT)
    until = "" if entry.expires_at is None else f", until {day(entry.expires_at - A_MOMENT, zone)}"
    mark = ONLY_IF if secret else entry.category.value + (f", {GIVERS[entry.given_by]}" if bound else "")
    return f"- [{mark}] {one_line(entry.content or '')} ({day(entry.created_at, zone)}{until})"


def question_line(question: str) -> str:
    """A question that waits as the block shows it."""
    return f"- {one_line(question)}"


def woven_lines(woven: Woven) -> list[str]:
    """A doubt as the block shows it: both sides, then what would settle it."""
    sides = [one_line(side) for side in (woven.a, woven.b) if side is not None]
    return [f"- noted: {' / and also: '.join(sides)}", f"  such as: {one_line(woven.question)}"]


def without_copies(remembered: Remembered, visible: Sequence[str] = ()) -> Remembered:
    """The same without what another item or the visible conversation says already.

    The ledger goes first, then the profile, memories, facts and earlier turns, each most useful first; of two that say
    the same the first stays.

    Examples
    --------
    >>> from datetime import datetime, UTC
    >>> at = datetime(2026, 1, 15, tzinfo=UTC)
    >>> facts = [Fact(f"fact-{i}", i, text, (), at) for i, text in enumerate(["A red cat, Mimi.", "a red cat Mimi"])]
    >>> [fact.id for fact in without_copies(Remembered(tuple(facts))).facts]
    ['fact-0']
    """
    told: list[Gist] = []

    def gists(texts: Iterable[str | None]) -> list[Gist]:
        return [gist(text or "", remembered.name) for text in texts]

    ledger = _fresh(told, remembered.ledger, gists(entry.content for entry in remembered.ledger))
    told_memories = gists(each.memory.content for each in remembered.memories)
    repeated = [any(is_said_by(own, entry) for entry in told) for own in told_memories]
    profile = _fresh(told, remembered.profile, gists(each.memory.content for each in remembered.profile))
    memories = _fresh(told, remembered.memories, told_memories)
    seen = gists(visible)
    own = gists(fact.text for fact in remembered.facts)
    telling = [not any(is_said_by(s, each) for s in (*told, *seen)) for each in own]
    facts = _fresh([*told, *seen], list(compress(remembered.facts, telling)), list(compress(own, telling)))
    turns = _fresh(told, remembered.turns, gists(turn.text for turn in remembered.turns))
    return replace(
        remembered,
        ledger=ledger,
        profile=profile,
        memories=memories,
        facts=facts,
        turns=turns,
        repeated=tuple(compress(remembered.memories, repeated)),
    )


def _fresh(told: list[Gist], items: Sequence[T], gists: Sequence[Gist]) -> tuple[T, ...]:
    """The items that say something new, in order; what they say is added to what is told."""
    kept = []
    for item, own in zip(items, gists, strict=True):
        if not any(is_said_by(own, other) or adds_little(own, other) for other in told):
            kept.append(item)
            told.append(own)
    return tuple(kept)


if TYPE_CHECKING:
    from tokenizers import Tokenizer


@lru_cache(maxsize=1)
def _tokenizer() -> "Tokenizer":
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(EMBEDDER_FOLDER / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


@lru_cache(maxsize=1)
def _vocabulary() -> frozenset[str]:
    return frozenset(_tokenizer().get_vocab(with_added_tokens=False))


def most_tokens(text: str) -> int:
    """No fewer than the tokens of a text, found much faster than by counting.

    A plain word is one token where the vocabulary knows it, and no token is shorter than a letter or a byte.

    Examples
    --------
    >>> most_tokens("I have a dog."), most_tokens("I have a hippogriff."), count_tokens(["I have a hippogriff."])
    (5, 14, [8])
    """
    if not _PLAIN.fullmatch(text):
        return len(text.encode("utf-8", "surrogatepass"))
    known = _vocabulary()
    return sum(1 if piece in known else len(piece.encode()) for piece in _TOKEN_PIECE.findall(text.lower()))


def count_tokens(texts: Sequence[str]) -> list[int]:
    """Tokens of each text, by the word pieces of the shipped embedder.

    No two language models count alike; for English these are a few more than theirs, so that a budget holds.

    Examples
    --------
    >>> count_tokens(["I have a dog.", ""])
    [5, 0]
    """
    return [len(each.ids) for each in _tokenizer().encode_batch(list(texts), add_special_tokens=False)]
