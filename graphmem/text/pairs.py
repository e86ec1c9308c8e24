"""What two texts have in common and where they part: numbers, negation, choice, words, meaning (spec 4, 7)."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz, utils
from rapidfuzz.distance import Levenshtein

from graphmem.model import Vector
from graphmem.text.doc import Doc
from graphmem.text.lexicon import STOP_WORDS, is_negation
from graphmem.text.quantities import Quantity, equal_values, quantities
from graphmem.text.stems import stem
from graphmem.text.words import UNKNOWN, is_number, word_rarity

PAIR_CHARACTERS = 2_000
"""How much of each text is compared."""
FEW_EDITS = 3
"""Words changed, at most, for one text to be an edit of the other."""
A_SENTENCE = 5
"""More words than this make an edit worth the name."""

ALIKE = 0.65
"""Cosine from which two statements may be about the same."""
TWINS = 0.82
"""Cosine from which they say the same where nothing parts them."""
ALIKE_WORDS = 0.6
"""Share of the weight of their content words from which they say the same where nothing parts them."""

_OPENING = r"^\W*(?:(?:oh|so|well|um+|hm+|sorry)\W+)*"
_YES = re.compile(rf"{_OPENING}(?:yes|yeah|yep|yup|ya|yea|sure|right|correct|true|of course|exactly|ok|okay|si)\b")
_NO = re.compile(rf"{_OPENING}(?:no|nope|nah|not|false|never|wrong)\b")
_EITHER = re.compile(r"(\w+),? or (?:(?:a|an|the|is|it|in) )*(\w+)")
_AUXILIARY = "is|are|do|does|did|can|could|have|has|was|were|will|would|should"
_YES_OR_NO = re.compile(rf"(?:^|[.!?,]\s+)(?:(?:so|and|but|ok) )?(?:{_AUXILIARY})\b[^?]*\?\s*$")


SAME_SHARE = 0.8
"""Share of the content words of the shorter of two texts that the other must hold, to say the same."""
FEW_STEMS = 1
"""Content words of a text too short to be part of another by chance."""
LITTLE = 1
"""Content words that a statement may have more than another and still say next to nothing more."""
# How a statement speaks of the student, who speaks of "I" and "my".
_STUDENT = frozenset({"student", "said", "say", "tell"})


@dataclass(frozen=True)
class Compared:
    """A text as it is compared, each part read once.

    vector : its embedding
    valence : float in [-1, 1], how pleasant it sounds
    """

    doc: Doc
    vector: Vector
    valence: float = 0.0

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Its words and numbers in lower case."""
        return self._read.plain_words

    @cached_property
    def numbers(self) -> tuple[Quantity, ...]:
        """Its numbers."""
        return quantities(self._read.text)

    @cached_property
    def content(self) -> dict[str, float]:
        """The stems of its content words, and how rare each is."""
        words = (word.split("'")[0] for word in self.words if not is_number(word))
        return {stem(word): word_rarity(word) for word in words if word not in STOP_WORDS and len(word) > 1}

    @cached_property
    def folded(self) -> str:
        """Its letters and digits in lower case."""
        return utils.default_process(self._read.text)

    @cached_property
    def polarity(self) -> int:
        """1 if it begins with a yes, -1 with a no."""
        return polarity_of(self._read)

    @cached_property
    def negations(self) -> int:
        """How many of its words deny."""
        return sum(map(is_negation, self.words))

    @property
    def denies(self) -> bool:
        """True if it begins with a no or denies something."""
        return self.polarity < 0 or self.negations > 0

    @cached_property
    def asks(self) -> bool:
        """True if it asks something."""
        return self._read.asks or self.doc.plain.rstrip().endswith("?")

    @property
    def plain(self) -> str:
        """The text in lower case."""
        return self._read.plain

    @cached_property
    def _read(self) -> Doc:
        return self.doc if len(self.doc.text) <= PAIR_CHARACTERS else Doc(self.doc.text[:PAIR_CHARACTERS])


def polarity_of(doc: Doc) -> int:
    """1 if a text begins with a yes, -1 with a no, else 0.

    Examples
    --------
    >>> [polarity_of(Doc(text)) for text in ("Yes, I do", "oh no, not any more", "I live in Rome")]
    [1, -1, 0]
    """
    return -1 if _NO.search(doc.plain) else int(_YES.search(doc.plain) is not None)


def pair_features(before: Compared, one: Compared, other: Compared) -> NDArray[np.float64]:
    """Features of a pair of messages in the light of the message both would answer.

    Parameters
    ----------
    before : Compared, the message before; that of an empty text where there was none
    one, other : Compared, the two messages, such as a prediction and what was said

    Returns
    -------
    float array of shape (n,), named by `pair_feature_names`; most lie in [-1, 1], where 0 says nothing

    Source: spec 4.
    """
    return np.array(list(_features(before, one, other).values()), dtype=np.float64)


def pair_feature_names() -> tuple[str, ...]:
    """Names of the features of a pair, in order.

    Examples
    --------
    >>> pair_feature_names()[:3]
    ('asks_same', 'asks_both', 'asks_one')
    """
    nothing = Compared(Doc(""), np.zeros(1, dtype=np.float32))
    return tuple(_features(nothing, nothing, nothing))


def _features(before: Compared, one: Compared, other: Compared) -> dict[str, float]:
    return (
        _asking_and_denying(before, one, other)
        | _number_features(before, one, other)
        | _spelling(one, other)
        | _meaning(before, one, other)
        | _content(before, one, other)
        | _edits(one, other)
        | _choice(before, one, other)
    )


def _asking_and_denying(before: Compared, one: Compared, other: Compared) -> dict[str, float]:
    a, b = one.polarity, other.polarity
    yes_or_no = float(_YES_OR_NO.search(before.plain) is not None)
    differs = float(one.denies != other.denies)
    return {
        "asks_same": float(one.asks == other.asks),
        "asks_both": float(one.asks and other.asks),
        "asks_one": float(one.asks) - float(other.asks),
        "denies_both": float(one.negations > 0 and other.negations > 0),
        "denies_one": float(one.negations > 0) - float(other.negations > 0),
        "denies_differs": differs,
        "negations": float(min(3, abs(one.negations - other.negations))),
        "yes_against_no": float(a * b < 0),
        "same_yes_or_no": float(a == b and a != 0),
        "one_yes_or_no": float((a == 0) != (b == 0)),
        "asked_yes_or_no": yes_or_no,
        "asked_and_differs": yes_or_no * differs,
        "was_asked": float(before.plain.rstrip().endswith("?")),
    }


def _number_features(before: Compared, one: Compared, other: Compared) -> dict[str, float]:
    a, b = one.numbers, other.numbers
    new_a, new_b = (_without(each, before.numbers) for each in (a, b))
    results_a, results_b = ([q for q in each if q.result] for each in (a, b))
    both, both_new = bool(a and b), bool(new_a and new_b)
    return {
        "numbers_none": float(not a and not b),
        "numbers_one": float(bool(a) != bool(b)),
        "numbers_new_one": float(bool(new_a)) - float(bool(new_b)),
        "numbers_new_both": float(both_new),
        "result_equal": _sign(equal_values(_last(a), _last(b))) if both else 0.0,
        "result_size_equal": _sign(abs(_last(a).value) == abs(_last(b).value)) if both else 0.0,
        "result_in_other": _sign(_among(_last(a), b)) if both else 0.0,
        "other_result_in": _sign(_among(_last(b), a)) if both else 0.0,
        "first_equal": _sign(equal_values(a[0], b[0])) if both else 0.0,
        "numbers_shared": _shared(a, b),
        "numbers_shared_back": _shared(b, a),
        "new_shared": _shared(new_a, new_b),
        "new_shared_back": _shared(new_b, new_a),
        "new_result_equal": _sign(equal_values(_last(new_a), _last(new_b))) if both_new else 0.0,
        "results_shared": (_shared(results_a, results_b) + _shared(results_b, results_a)) / 2,
        "numbers_more": abs(math.log1p(len(a)) - math.log1p(len(b))),
    }


def _spelling(one: Compared, other: Compared) -> dict[str, float]:
    a, b = one.folded, other.folded
    return {
        "spelt_alike": fuzz.ratio(a, b) / 100,
        "part_alike": fuzz.partial_ratio(a, b) / 100,
        "words_alike": fuzz.token_set_ratio(a, b) / 100,
        "sorted_alike": fuzz.token_sort_ratio(a, b) / 100,
        "the_same": float(a == b),
    }


def _meaning(before: Compared, one: Compared, other: Compared) -> dict[str, float]:
    near, far = (float(before.vector @ each.vector) for each in (one, other))
    long, longer = (math.log1p(len(each.words)) for each in (one, other))
    return {
        "cosine": float(one.vector @ other.vector),
        "cosine_before": far,
        "cosine_before_differs": abs(near - far),
        "valence_differs": abs(one.valence - other.valence),
        "valence_product": 4 * one.valence * other.valence,
        "length": long,
        "length_other": longer,
        "length_differs": abs(long - longer),
        "both_short": float(max(len(one.words), len(other.words)) <= FEW_EDITS),
    }


def _content(before: Compared, one: Compared, other: Compared) -> dict[str, float]:
    """Content words that both have, and those new in the talk that only one has."""
    a, b = one.content, other.content
    new_a, new_b = ({word: r for word, r in each.items() if word not in before.content} for each in (a, b))
    only_a, only_b = new_a.keys() - new_b.keys(), new_b.keys() - new_a.keys()
    shared = new_a.keys() & new_b.keys()
    return {
        "content_shared": _weight_shared(a, b, nothing=0.5),
        "content_shared_back": _weight_shared(b, a, nothing=0.5),
        "new_content_shared": _weight_shared(new_a, new_b, nothing=0.0),
        "new_content_shared_back": _weight_shared(new_b, new_a, nothing=0.0),
        "new_content": float(bool(new_a)),
        "new_content_other": float(bool(new_b)),
        "new_content_both": float(bool(shared)),
        "new_content_parts": float(bool(new_a and new_b and not shared)),
        "only_one": float(min(3, len(only_a))),
        "only_other": float(min(3, len(only_b))),
        "rarest_only": max((new_a[word] for word in only_a), default=0.0) / UNKNOWN if only_b else 0.0,
    }


def _edits(one: Compared, other: Compared) -> dict[str, float]:
    """Whether one text is the other with a few words changed, and whether those words matter."""
    a, b = one.words, other.words
    longest = max(len(a), len(b), 1)
    steps = Levenshtein.editops(a, b)
    changed = [(a[step.src_pos], b[step.dest_pos]) for step in steps if step.tag == "replace"]
    matters = any(x not in STOP_WORDS and y not in STOP_WORDS and stem(x) != stem(y) for x, y in changed)
    return {
        "edited": len(steps) / longest,
        "few_edits": float(0 < len(steps) <= FEW_EDITS and longest > A_SENTENCE),
        "content_edited": float(len(steps) <= FEW_EDITS + 1 and matters),
    }


def _choice(before: Compared, one: Compared, other: Compared) -> dict[str, float]:
    """What is chosen of two things the message before named."""
    offered = _EITHER.search(before.plain)
    a, b = (_chosen(offered, each) for each in (one, other))
    return {"chosen_apart": float(a * b < 0), "chosen_alike": float(a * b > 0)}


def _chosen(offered: re.Match[str] | None, by: Compared) -> int:
    return 0 if offered is None else (offered[1] in by.words) - (offered[2] in by.words)


def _without(numbers: Sequence[Quantity], known: Sequence[Quantity]) -> list[Quantity]:
    return [number for number in numbers if not _among(number, known)]


def _among(number: Quantity, numbers: Sequence[Quantity]) -> bool:
    return any(equal_values(number, each) for each in numbers)


def _last(numbers: Sequence[Quantity]) -> Quantity:
    """What a calculation came to: the last result, or else the last number."""
    return next((number for number in reversed(numbers) if number.result), numbers[-1])


def _shared(numbers: Sequence[Quantity], others: Sequence[Quantity]) -> float:
    """From -1, none of some numbers is among others, to 1, all are; 0 where either has none."""
    if not numbers or not others:
        return 0.0
    return 2 * sum(_among(number, others) for number in numbers) / len(numbers) - 1


def _weight_shared(content: dict[str, float], other: dict[str, float], nothing: float) -> float:
    total = sum(content.values())
    return sum(content[word] for word in content.keys() & other.keys()) / total if total else nothing


def _sign(holds: bool) -> float:
    return 1.0 if holds else -1.0


def are_alike(one: Compared, other: Compared) -> bool:
    """Return whether two statements say the same: they are like each other, and nothing parts them.

    Parameters
    ----------
    one, other : Compared, with vectors of the shipped embedder

    Notes
    -----
    Meaning alone cannot tell same from opposite: true twins and opposites both lie at cosines of 0.7 to 0.95.

    Source: spec 7.

    Examples
    --------
    >>> from graphmem.text.embedder import ShippedNetwork
    >>> encode = ShippedNetwork(1).encode
    >>> def of(one, other):
    ...     return are_alike(*(Compared(Doc(text), encode([text])[0]) for text in (one, other)))
    >>> of("Mo has two sisters.", "Mo has 2 sisters."), of("Mo has two sisters.", "Mo has three sisters.")
    (True, False)
    """
    if one.folded == other.folded:
        return True
    cosine = float(one.vector @ other.vector)
    shared = min(_weight_shared(one.content, other.content, 0.0), _weight_shared(other.content, one.content, 0.0))
    near = cosine >= TWINS or (cosine >= ALIKE and shared >= ALIKE_WORDS)
    return near and not _part(one, other)


def _part(one: Compared, other: Compared) -> bool:
    """True if two like texts part in a number, in what they deny or in a word put in the place of another."""
    numbers = _shared(one.numbers, other.numbers), _shared(other.numbers, one.numbers)
    apart = bool(one.numbers and other.numbers) and max(numbers) < 1.0
    if apart or one.denies != other.denies or one.polarity * other.polarity < 0:
        return True
    edits = _edits(one, other)
    return edits["few_edits"] > 0 and edits["content_edited"] > 0


@dataclass(frozen=True)
class Gist:
    """Content of a statement: stems of its content words, numbers, and whether it denies."""

    stems: frozenset[str]
    numbers: tuple[float, ...]
    negates: bool


def gist(text: str | Doc, name: str | None = None) -> Gist:
    """The content of a statement, whoever speaks.

    Parameters
    ----------
    text : str or its Doc, where there is one
    name : the student's, who may be spoken of by it

    Examples
    --------
    >>> gist("The student has 2 dogs.") == gist("I have 2 dogs!") == gist("Mo has 2 dogs.", "Mo")
    True
    """
    doc = (Doc(text) if isinstance(text, str) else text).excerpt
    own = _STUDENT if name is None else _STUDENT | Doc(name).stems
    return Gist(doc.stems - own, tuple(sorted(doc.numbers)), doc.negates)


def adds_little(one: Gist, other: Gist) -> bool:
    """True if a statement says what another says and next to nothing more.

    Examples
    --------
    >>> adds_little(gist("I am allergic to peanuts, you know"), gist("The student is allergic to peanuts."))
    True
    >>> adds_little(gist("I am allergic to peanuts, my pen is in the bag"), gist("I am allergic to peanuts."))
    False
    """
    more = one.stems - other.stems
    return set(one.numbers) <= set(other.numbers) and len(more) <= LITTLE and is_said_by(other, one)


def contradicts(one: Gist, other: Gist) -> bool:
    """True if two statements of the same words differ in what they deny.

    Examples
    --------
    >>> contradicts(gist("The student does not hate decimals any more."), gist("The student hates decimals."))
    True
    >>> contradicts(gist("The student hates decimals."), gist("The student hates sums."))
    False
    """
    least = min(len(one.stems), len(other.stems))
    return one.negates != other.negates and least > FEW_STEMS and len(one.stems & other.stems) >= SAME_SHARE * least


def is_said_by(one: Gist, other: Gist) -> bool:
    """True if a statement adds nothing to another: its words, numbers and negation stand there.

    Examples
    --------
    >>> is_said_by(gist("My dog is called Bello"), gist("The student's dog is called Bello, a poodle."))
    True
    >>> is_said_by(gist("I am in grade 7"), gist("The student is in grade 8."))
    False
    """
    if not one.stems or one.negates != other.negates or not set(one.numbers) <= set(other.numbers):
        return False
    if len(one.stems) <= FEW_STEMS:
        return one.stems == other.stems
    return len(one.stems & other.stems) >= SAME_SHARE * len(one.stems)
