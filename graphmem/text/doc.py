"""A message with what can be read off it, made once and handed on."""

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

from graphmem.model import Heard, Message, Vector
from graphmem.text.keyphrases import ranked_phrases
from graphmem.text.lexicon import STOP_WORDS, TIME_WORDS, is_negation
from graphmem.text.normalize import plain
from graphmem.text.questions import asks
from graphmem.text.sanitize import clean
from graphmem.text.sentences import sentence_spans
from graphmem.text.stems import stem
from graphmem.text.words import Token, is_number, token_texts, tokens

T = TypeVar("T")

EXCERPT_CHARACTERS = 4_000
"""How much of a long text is read closely: half from its beginning, half from its end."""

SCOPED_CHARACTERS = 4096
"""How much of a text is read for the scope of negations, as much as the embedder reads."""

_SCOPED = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?|[!?]+|[^\w\s,.;:()\"'-]")
_SCOPE = 3
_CUT_END, _CUT_START = re.compile(r"\S{1,40}$"), re.compile(r"^\S{1,40}")
NUMBER = re.compile(r"(?<![\w.,])[$€£]?(\d[\d,]*(?:\.\d+)?)(?![\d])")
_SHORT_FORM = re.compile(r"n't$|'(?:ll|re|ve|d|m|s)$")
# Function words elsewhere, but what a text is about where it is denied or affirmed.
_TELLING = frozenset(
    "like need want know understand hard easy help same equal more less left first last next per each every".split()  # noqa: SIM905
)


@dataclass(frozen=True)
class Doc:
    """A text and its annotations, each computed when it is first read.

    A sentence of a text is a Doc too; `start` and `end` are its place in the text it stands in.

    Parameters
    ----------
    text : str
    vector : its embedding, where there is one
    start : int

    Examples
    --------
    >>> doc = Doc("I met Mr. Hill in Rome yesterday. He isn't 12!")
    >>> [sentence.text for sentence in doc.sentences]
    ['I met Mr. Hill in Rome yesterday.', "He isn't 12!"]
    >>> doc.numbers, doc.negates, sorted(doc.time_words), doc.capitals
    ((12.0,), True, ['yesterday'], ('Mr', 'Hill', 'Rome'))
    >>> doc.key_phrases(2), sorted(doc.stems)
    (('Rome yesterday', 'met Mr'), ['hill', 'meet', 'rome', 'yesterday'])
    """

    text: str
    vector: Vector | None = field(default=None, repr=False, compare=False)
    start: int = 0

    @property
    def end(self) -> int:
        """End offset in the text it stands in."""
        return self.start + len(self.text)

    @cached_property
    def plain(self) -> str:
        """The text in lower case with straight apostrophes, each character in its place."""
        return plain(self.text)

    @cached_property
    def sentences(self) -> "tuple[Doc, ...]":
        """Its sentences and lines."""
        return tuple(Doc(self.text[start:end], start=start) for start, end in sentence_spans(self.text))

    @cached_property
    def excerpt(self) -> "Doc":
        """Beginning and end of a text of more than 4,000 characters; else the text, composed (NFC)."""
        text = self.text
        if len(text) > EXCERPT_CHARACTERS:
            half = EXCERPT_CHARACTERS // 2
            # Half a word would count as another word.
            text = f"{_CUT_END.sub('', text[:half])}\n{_CUT_START.sub('', text[-half:])}"
        text = unicodedata.normalize("NFC", text)
        return self if text == self.text else Doc(text)

    @cached_property
    def shown(self) -> "Doc":
        """The text as it may be shown: on one line, without markup and quotation marks."""
        text = clean(self.text)
        return self if text == self.text else Doc(text)

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """Its words, numbers and marks."""
        return tokens(self.text)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Its words and numbers as they are written."""
        return tuple(text for text in token_texts(self.text) if text[0].isalnum() or is_number(text))

    @cached_property
    def plain_words(self) -> tuple[str, ...]:
        """Its words and numbers in lower case with straight apostrophes."""
        return tuple(map(plain, self.words))

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """Its words as they are looked up: case-folded, without possessives, the parts of compounds apart."""
        return tuple(term for word in self.plain_words for term in terms(word))

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of its content words; numbers are none."""
        words = {
            word.split("'")[0] if _SHORT_FORM.search(word) else word
            for word in self.plain_words
            if word[0].isalpha() and len(word) > 2
        }
        return frozenset(stem(word) for word in words if word in _TELLING or word not in STOP_WORDS)

    @cached_property
    def numbers(self) -> tuple[float, ...]:
        """The numbers in it."""
        return tuple(float(number.replace(",", "")) for number in NUMBER.findall(self.text))

    @cached_property
    def negates(self) -> bool:
        """True if it contains a negation word."""
        return any(map(is_negation, self.plain_words))

    @cached_property
    def negation_scoped_words(self) -> tuple[str, ...]:
        """Its words and marks in lower case, those soon after a negation begun with `not`; numbers are none."""
        negated, found = 0, []
        for token in self.tokens:
            if token.end > SCOPED_CHARACTERS:
                break
            for word in _SCOPED.findall(plain(token.text)):
                found.append(f"not {word}" if negated > 0 else word)
                negated = _SCOPE if is_negation(word) else negated - 1
        return tuple(found)

    @cached_property
    def time_words(self) -> frozenset[str]:
        """The words in it that say when."""
        return TIME_WORDS & frozenset(self.terms)

    @cached_property
    def asks(self) -> bool:
        """True if a sentence of it is a question."""
        return asks(self.plain)

    @cached_property
    def capitals(self) -> tuple[str, ...]:
        """Its words with a capital inside a sentence, mostly parts of names, each once; no word of time."""
        inside = (word.split("'")[0] for sentence in self.sentences for word in sentence.words[1:])
        named = (word for word in inside if word[:1].isupper() and word[1:].islower())
        return tuple(dict.fromkeys(word for word in named if word.casefold() not in STOP_WORDS | TIME_WORDS))

    @cached_property
    def _phrases(self) -> tuple[str, ...]:
        return ranked_phrases(self.excerpt.text, self.excerpt.tokens)

    def key_phrases(self, limit: int = 8) -> tuple[str, ...]:
        """The phrases that say most about it, rarest first (`graphmem.text.keyphrases`)."""
        return self._phrases[:limit]


def terms(word: str) -> list[str]:
    """A word as it is looked up: case-folded, without a possessive, the parts of a compound apart.

    Examples
    --------
    >>> terms("Well-known"), terms("rabbit's")
    (['well', 'known'], ['rabbit'])
    """
    return [part.removesuffix("'s") for part in plain(word).casefold().split("-")]


def doc_of(said: Message | Heard) -> Doc:
    """The Doc of what was said: the one it carries, or else a new one.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> from graphmem.model import Author, Message
    >>> doc_of(Message(Author.STUDENT, "Hello!", datetime(2026, 1, 1, tzinfo=UTC))).text
    'Hello!'
    """
    return said.doc if isinstance(said.doc, Doc) else Doc(said.text)


def once_per_doc(function: Callable[[Doc], T]) -> Callable[[Doc], T]:
    """A function of a Doc whose result is kept for as long as an equal Doc is held; it must not hold that Doc itself.

    So nothing of a student outlives the session.

    Examples
    --------
    >>> @once_per_doc
    ... def shouted(doc):
    ...     print("once")
    ...     return doc.text.upper()
    >>> doc = Doc("hi")
    >>> shouted(doc), shouted(Doc("hi"))
    once
    ('HI', 'HI')
    """
    found: WeakKeyDictionary[Doc, T] = WeakKeyDictionary()

    @wraps(function)
    def known(doc: Doc) -> T:
        try:
            return found[doc]
        except KeyError:
            result = found[doc] = function(doc)
            return result

    return known
