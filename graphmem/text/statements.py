"""What students state, in pieces that can be compared: sentences, their content words, numbers and polarity."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from graphmem.text.keyphrases import STOP_WORDS, words_of
from graphmem.text.memory_types import is_question, plain_of
from graphmem.text.sentences import cleaned, is_small_talk, sentence_spans

LONGEST = 400
"""Characters of a sentence that are compared."""
SHORT = 4
"""Words that a sentence needs to be the denial of another."""

# Function words elsewhere, but what a statement is about where it is denied or affirmed.
_TELLING = frozenset(
    "like need want know understand hard easy help same equal more less left first last next per each every".split()  # noqa: SIM905
)
_PART_OF_CUES = frozenset("oh wait sorry mistake wrong correct yes no answer instead mean realize realise see".split())  # noqa: SIM905
_NUMBER = re.compile(r"(?<![\w.,])[$€£]?(\d[\d,]*(?:\.\d+)?)(?![\d])")
_DENIES = re.compile(
    r"\b(?!(?:can't|cannot|couldn't) (?:wait|help|believe|thank)|not only\b|nothing but\b)"
    r"(?:not|never|no longer|cannot|neither|nobody|nothing|without|\w+n't|dont|doesnt|didnt|isnt|arent|cant|wont)\b"
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
_ENDINGS = re.compile(r"(?<=\w{3})(?:'s|ies|ing|ed|es|s|e|y)$")


@dataclass(frozen=True)
class Claim:
    """What amounts to how much: the words of the clause, those right after the number, and the number."""

    matter: frozenset[str]
    unit: frozenset[str]
    value: float


@dataclass(frozen=True)
class Statement:
    """A sentence somebody stated.

    start, end : its place in the text it stands in
    """

    text: str
    start: int
    end: int

    @cached_property
    def plain(self) -> str:
        """As rules read it."""
        return plain_of(self.text)

    @cached_property
    def stems(self) -> frozenset[str]:
        """Its content words without their endings; numbers are none."""
        return stems(self.text)

    @cached_property
    def matter(self) -> frozenset[str]:
        """Its content words without the names it is addressed to; none where it is too short to be denied."""
        if len(self.text.split()) < SHORT:
            return frozenset()
        return stems(_ADDRESSED.sub("", self.text))

    @cached_property
    def numbers(self) -> tuple[float, ...]:
        """The numbers in it, in order."""
        return tuple(float(number.replace(",", "")) for number in _NUMBER.findall(self.text))

    @cached_property
    def calculations(self) -> dict[str, float]:
        """What it reckons out: each calculation in one spelling, and its result."""
        found = _CALCULATION.findall(self.text)
        return {_spelled(left): float(result.replace(",", "")) for left, result in found}

    @cached_property
    def claim(self) -> "Claim | None":
        """What it says that something amounts to, if it does."""
        *_, last = [None, *_NUMBER.finditer(self.text)]
        if last is None or _UNKNOWN.search(self.text) or _STEP.search(self.text[: last.start()]):
            return None
        start = max((m.end() for m in _CLAUSE.finditer(self.text, 0, last.start())), default=0)
        matter = _RECKONED.sub(" ", self.text[start : last.start()] + " " + self.text[last.end() :])
        unit = stems(" ".join(re.findall(r"[^\W\d_]+|[.,;]", self.text[last.end() :])[:2]))
        return Claim(stems(matter), unit, float(last[1].replace(",", "")))

    @cached_property
    def denies(self) -> bool:
        """Whether it says that something is not so."""
        return len(_DENIES.findall(_CONTRAST.sub("", self.plain))) % 2 == 1


def statements(text: str) -> Iterator[Statement]:
    """The sentences of a text that state something: no questions, greetings, thanks or praise.

    Examples
    --------
    >>> [(s.text, s.numbers) for s in statements("Oh, hi! I have 12 - 3 = 9 spoons. Right?")]
    [('I have 12 - 3 = 9 spoons.', (12.0, 3.0, 9.0))]
    """
    for start, end in sentence_spans(text):
        said = cleaned(text[start : min(end, start + LONGEST)])
        if said and not is_small_talk(said) and not is_question(plain_of(said)) and not said.endswith("?"):
            yield Statement(said, start, end)


def stems(text: str) -> frozenset[str]:
    """The content words of a text, without their endings, so that most inflections are the same.

    Examples
    --------
    >>> sorted(stems("He buys 3 spoons; I was buying the spoon"))
    ['buy', 'spoon']
    """
    words = {word.lower().replace("’", "'") for word in words_of(text) if word[0].isalpha() and len(word) > 2}
    plain = {word.split("'")[0] if word.endswith(("n't", "'ll", "'re", "'ve")) else word for word in words}
    kept = {w for w in plain if w in _TELLING or w.removesuffix("'s") not in STOP_WORDS}
    return frozenset(_ENDINGS.sub("", word) for word in kept - _PART_OF_CUES)


def _spelled(calculation: str) -> str:
    return re.sub(r"[\s$€£,]", "", calculation).translate(_SIGNS).rstrip(".")
