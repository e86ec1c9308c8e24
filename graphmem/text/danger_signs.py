"""Plain signs of danger that must never be missed, beside the trained model (spec 20).

Each row of `danger_signs.jsonl` is a family of phrases of one language: `kind`, `urgency` and `sign`, a regular
expression over lower-case text without apostrophes, in which `<name>` stands for what the language's row of that
`name` means. The name `neg` is the negation that makes a sign of the same clause none. Only phrases that say danger in
so many words belong here; everything else is the model's.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from graphmem.model import ConcernKind
from graphmem.text.normalize import plain

SIGNS_FILE = Path(__file__).with_name("danger_signs.jsonl")

_FICTION = re.compile(
    r"\b(?:in|from|of) (?:the|this|that|my|a|our) (?:\w+ )?(?:book|story|novel|film|movie|series|show|game|play"
    r"|poem)s?\b|\b(?:macbeth|romeo|juliet|hamlet|minecraft|roblox|fortnite|zombies?|creeper|squad|gta|sims)\b"
    r"|\b(?:this|next|last) (?:level|chapter|episode|act|scene)\b"
)
_CLAUSE_END = re.compile(
    r"[.,;:!?\n…。！？،؟।]+|\s(?:but|although|though)\s|\s(?:and|then|so)\s(?=(?:(?:then|now|also) )?"
    r"(?:i|im|ive|my|he|she|they|we|mum|mom|dad)\b)"
)
_NEGATED = r"\b{}\W+(?:(?!stop|help|quit|only|just)\w+\W+){{0,2}}$"


@dataclass(frozen=True)
class Sign:
    """A plain sign of danger in a text."""

    kind: ConcernKind
    urgency: int
    language: str


@dataclass(frozen=True)
class _Signs:
    """The signs of one language: one pattern with a group for each, and the negation that makes them none."""

    signs: tuple[Sign, ...]
    pattern: re.Pattern[str]
    negated: re.Pattern[str] | None


@cache
def load_signs() -> tuple[_Signs, ...]:
    """The signs of each language, read once a process."""
    rows = [json.loads(line) for line in SIGNS_FILE.read_text("utf-8").splitlines()]
    return tuple(_of_language(language, rows) for language in dict.fromkeys(row["language"] for row in rows))


def _of_language(language: str, rows: list[dict[str, str]]) -> _Signs:
    own = [row for row in rows if row["language"] == language]
    names = {row["name"]: row["means"] for row in own if "name" in row}

    def resolved(sign: str) -> str:
        while (found := re.search(r"(?<!\?P)<(\w+)>", sign)) is not None:
            sign = f"{sign[: found.start()]}{names[found[1]]}{sign[found.end() :]}"
        return sign

    signs = [row for row in own if "sign" in row]
    pattern = "|".join(f"({resolved(row['sign'])})" for row in signs)
    made = tuple(Sign(ConcernKind(row["kind"]), int(row["urgency"]), language) for row in signs)
    return _Signs(made, re.compile(pattern), re.compile(_NEGATED.format(names["neg"])) if "neg" in names else None)


def danger_sign(text: str) -> Sign | None:
    """The gravest plain sign of danger in a text; None where there is none.

    One that is denied, and one in whose clause a story or a game is named, is no sign: the model decides.

    Examples
    --------
    >>> danger_sign("i dont know, i want to kill myself").urgency, danger_sign("kein Bock, ich will sterben").language
    (3, 'de')
    >>> danger_sign("in minecraft i am fine but i cut my arms again").kind.value
    'self_harm'
    >>> [danger_sign(text) for text in ("This homework kills me.", "I don't want to kill myself")]
    [None, None]
    """
    seen = plain(text).replace("'", "")
    return max((sign for each in load_signs() for sign in _found(each, seen)), key=lambda s: s.urgency, default=None)


def beside_fiction(text: str) -> str:
    """A text without the clauses in which a story or a game is named.

    Examples
    --------
    >>> beside_fiction("In minecraft i am fine, but my dad hits me"), beside_fiction("I like cake.")
    ('my dad hits me', 'I like cake.')
    """
    if not _FICTION.search(plain(text)):
        return text
    return ". ".join(
        each.strip() for each in _CLAUSE_END.split(text) if each.strip() and not _FICTION.search(plain(each))
    )


def _found(signs: _Signs, text: str) -> Iterator[Sign]:
    for match in signs.pattern.finditer(text):
        if not (_is_denied(signs, text, match) or _FICTION.search(_clause_around(text, *match.span()))):
            yield signs.signs[(match.lastindex or 1) - 1]


def _is_denied(signs: _Signs, text: str, match: re.Match[str]) -> bool:
    before = _clause_around(text[: match.start()], match.start(), match.start())
    return signs.negated is not None and signs.negated.search(before) is not None


def _clause_around(text: str, start: int, end: int) -> str:
    """The clause in which a stretch of a text stands."""
    begin = max((each.end() for each in _CLAUSE_END.finditer(text, 0, start)), default=0)
    after = _CLAUSE_END.search(text, end)
    return text[begin : len(text) if after is None else after.start()]
