"""Statements: sentences that can be compared by their content words, numbers and polarity."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from graphmem.text.certainty import is_question
from graphmem.text.chunks import is_small_talk
from graphmem.text.doc import NUMBER, Doc
from graphmem.text.lexicon import NEGATIONS
from graphmem.text.normalize import cleaned
from graphmem.text.stems import stem

COMPARED_CHARACTERS = 400
"""Characters of a sentence that are compared."""
DENIAL_WORDS = 4
"""Words that a sentence needs to be the denial of another."""

# Words that put something right; they are no part of what is put right.
_PART_OF_CUES = frozenset(map(stem, ("wait", "mistake", "wrong", "correct", "answer", "realise", "realize")))
_NEGATING = "|".join(sorted(NEGATIONS - {"no", "none", "nor", "nowhere"}))
_DENIES = re.compile(
    r"\b(?!(?:can't|cannot|couldn't) (?:wait|help|believe|thank)|not only\b|nothing but\b)"
    rf"(?:{_NEGATING}|no longer|\w+n't)\b"
    r"|\bno(?= (?!problem|see\b|talk\b|worries|matter|way\b)\w)"
)
_ADDRESSED = re.compile(r"^(?:[A-Za-z]+,? )?[A-Z][a-z]+,|, [A-Z][a-z]+(?=[.!?]*$)")
_CONTRAST = re.compile(r", (?:and )?not\b[^.!?]*")
_CALCULATION = re.compile(
    r"(?<![\d.)])([$€£]?\d[\d,.]*(?:\s?[-+*/x×÷−]\s?[$€£]?\d[\d,.]*)+)\s?=\s?[$€£]?(\d[\d,]*(?:\.\d+)?)(?!\s?[-+*/x×÷−%])"
)
_CLAUSE = re.compile(r",? (?:which|so|that means|therefore|since|because|and|but|giving|to get|or)\b|[,;:] |\. ")
_RECKONED = re.compile(r"[$€£]?\d[\d,.]*|(?<!\w)[-+*/x×÷−=](?!\w)")
_UNKNOWN = re.compile(r"(?<!\w)[a-wyz]\b(?=\s?[-+*/=)])|(?<!\w)x\b(?=\s?[-+*/=)])(?<!\d x)|=\s?[a-z]\b")
_STEP = re.compile(r"\b(?:by|with|from|to|for|in|after|times|than|at|every|day|week|step|year|number)\s+[$€£]?$", re.I)
_SIGNS = str.maketrans("x×÷−", "**/-")


@dataclass(frozen=True)
class Claim:
    """Quantity claim: the words of the clause, those right after the number, and the number."""

    matter: frozenset[str]
    unit: frozenset[str]
    value: float


@dataclass(frozen=True)
class Statement:
    """A sentence somebody stated, on one line.

    start, end : its place in the text it stands in
    """

    doc: Doc
    start: int
    end: int

    @property
    def text(self) -> str:
        """The sentence as it was written."""
        return self.doc.text

    @property
    def plain(self) -> str:
        """The sentence as rules read it."""
        return self.doc.plain

    @property
    def numbers(self) -> tuple[float, ...]:
        """The numbers in it, in order."""
        return self.doc.numbers

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of its content words; numbers are none."""
        return self.doc.stems - _PART_OF_CUES

    @cached_property
    def matter(self) -> frozenset[str]:
        """Its stems without the names it is addressed to; none where it is too short to be denied."""
        if len(self.text.split()) < DENIAL_WORDS:
            return frozenset()
        return _stems(_ADDRESSED.sub("", self.text))

    @cached_property
    def calculations(self) -> dict[str, float]:
        """Calculations in it: each in one normalised spelling, and its result."""
        found = _CALCULATION.findall(self.text)
        return {_spelled(left): float(result.replace(",", "")) for left, result in found}

    @cached_property
    def claim(self) -> "Claim | None":
        """Quantity claim it makes, if any."""
        *_, last = [None, *NUMBER.finditer(self.text)]
        if last is None or _UNKNOWN.search(self.text) or _STEP.search(self.text[: last.start()]):
            return None
        start = max((m.end() for m in _CLAUSE.finditer(self.text, 0, last.start())), default=0)
        matter = _RECKONED.sub(" ", self.text[start : last.start()] + " " + self.text[last.end() :])
        after = [
            token.text
            for token in Doc(self.text[last.end() :]).tokens
            if token.text[0].isalpha() or token.text in ",.;"
        ]
        return Claim(_stems(matter), _stems(" ".join(after[:2])), float(last[1].replace(",", "")))

    @cached_property
    def denies(self) -> bool:
        """True if it says that something is not so."""
        return len(_DENIES.findall(_CONTRAST.sub("", self.plain))) % 2 == 1


def statements(doc: Doc) -> Iterator[Statement]:
    """The sentences of a text that state something: no questions, greetings, thanks or praise.

    Examples
    --------
    >>> [(s.text, s.numbers) for s in statements(Doc("Oh, hi! I have 12 - 3 = 9 spoons. Right?"))]
    [('I have 12 - 3 = 9 spoons.', (12.0, 3.0, 9.0))]
    """
    for sentence in doc.sentences:
        text = cleaned(sentence.text[:COMPARED_CHARACTERS])
        said = sentence if text == sentence.text else Doc(text)
        if text and not is_small_talk(said) and not is_question(said) and not text.endswith("?"):
            yield Statement(said, sentence.start, sentence.end)


def _stems(text: str) -> frozenset[str]:
    return Doc(text).stems - _PART_OF_CUES


def _spelled(calculation: str) -> str:
    return re.sub(r"[\s$€£,]", "", calculation).translate(_SIGNS).rstrip(".")
