"""A message with what can be read off it, made once: questions, key phrases, speakers, information, language."""

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

from graphmem.model import Heard, Message, Vector
from graphmem.text.lexicon import INTERROGATIVES, QUERY_STOP_WORDS, STOP_WORDS, TIME_WORDS, is_negation
from graphmem.text.normalize import clean, plain
from graphmem.text.stems import stem
from graphmem.text.words import Token, is_dense, is_number, parts, sentence_spans, token_texts, tokens, word_rarity

PHRASE_WORDS = 4
"""Most words of a key phrase."""
PHRASE_CHARACTERS = 60
"""Longest key phrase; a longer one is cut."""

_APOSTROPHE = re.compile("['’]")
_GAP = re.compile(r"[ \t]*")


_WH = "|".join(sorted(INTERROGATIVES))
_AUX = "is|are|was|were|do|does|did|can|could|should|would|will|may|am i|have i|has|isn'?t|aren'?t|don'?t|doesn'?t"
_ASKS = re.compile(
    rf"(?:^|[.!,;:]\s+|\b(?:so|but|and|ok|okay|oh|wait|well|hm+|thanks|also) )(?:{_WH}|{_AUX}|any)\b[^.!]{{0,200}}\?"
    r"|^\W*(?:what|why|how|where|who|which)(?:'?s)?\b[^.!?]{0,90}$"
    r"|\bhow do (?:you|i|we) (?:say|write|do|find|get)\b|\bwhat(?:'s| is| does)\b[^.!]{0,200}\?"
)
_FILLERS = r"^\W*(?:(?:and|so|but|oh|ok|okay|hm+|also|wait|sorry|please)\W+)*"
_ONLY_ASKS = re.compile(
    rf"{_FILLERS}(?:{_WH}|{_AUX}|have|any|[^.!?]{{1,40}} (?:or|right))\b[^.!?]*\?\W*$"
    rf"|{_FILLERS}(?:what|why|who|which|how (?:do|to|many|much|is|are|about|come)"
    r"|(?:can|could|may|shall|should|would) (?:you|i|we)|do (?:you|i|we)|does"
    r"|is (?:it|that|this))\b[^.!?,]{0,80}$"
)
_OF_TELLING = re.compile(
    r"\b(?:(?:did|have|had) i (?:\w+ )?(?:tell|told|say|said|mention|mentioned|explain|explained|ask|asked)"
    r"|i (?:told|asked) (?:you|u)|(?:do|did|can) (?:you|u) (?:still |even )?remember)\b"
)
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
ASKING_STEMS = frozenset(map(stem, "remember know tell told said say called still again think mention already".split()))  # noqa: SIM905
"""Stems of words that a question for memory is put in, and is not about."""
RARE_FROM, RAREST = 1.5, 5.0
"""Rarities (`word_rarity`) between which a word counts the more, the rarer it is."""
COUNTED_LETTERS = 3
"""Letters of the shortest word that counts."""
MOST_NAMES, MOST_NUMBERS = 3, 2
"""Names and numbers from which on more of them add nothing."""
_FIRST_PERSON = re.compile(r"\b(?:i|i'm|i've|i'll|my|me|we|our|us)\b", re.IGNORECASE)
_BRACKETED = re.compile(r"\s*\[[^\]]*(?:\]|$)")
ENGLISH = "en"
LOOKED_UP = ("ar", "de", "en", "es", "fr", "hi", "it", "nl", "pl", "pt", "ru", "tr", "uk")
"""ISO 639-1 codes of the languages whose words are looked up; Chinese is told by its signs."""
LANGUAGE_CHARACTERS = 400
"""Characters of a message that are looked at."""
SURE_ENGLISH = 5.3
"""Mean Zipf frequency from which on words are English, whatever they may be besides: the other lists stay unread."""
SURE_LANGUAGE = 0.5
"""By how much the words are more common in the likeliest language than in any other, in the mean, where it is told."""
LEAST_ENGLISH = 3.3
"""Mean Zipf frequency in English from which on words may be English."""
ASCII_SHARE = 0.7
"""Share of the words without other letters than English has from which on a text may be English."""
_LETTERS = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_HAN = re.compile(r"[\u4e00-\u9fff]")


def ranked_phrases(text: str, tokens: Iterable[Token]) -> tuple[str, ...]:
    """The phrases of a text, those that say most about it first; `Doc.key_phrases` gives the best of them.

    Parameters
    ----------
    text : str, in any language
    tokens : its tokens

    Returns
    -------
    tuple of str, none empty, none twice (whatever the case), each of 1 to 4 words and at most 60 characters;
    empty only where the text has no letter or digit, or nothing but function words

    Notes
    -----
    A phrase is a maximal run of content words between function words and punctuation, cut into pieces of at most
    four words; it is worth the sum of its words' rarities over the square root of their number, so that two rare
    words beat one, and one rare word beats it with a common one beside it. Numbers stay with their unit.

    Source: spec 4 (needed info, tags); the runs are those of RAKE (Rose et al. 2010, Automatic keyword extraction
    from individual documents), the weights are word frequencies instead of degrees in the text.

    Examples
    --------
    >>> from graphmem.text.doc import Doc
    >>> Doc("I think Julia bought 12 spoons, and her husband gave her a package.").key_phrases(3)
    ('Julia bought 12 spoons', 'husband gave', 'package')
    >>> Doc("Я не понимаю дроби").key_phrases(), Doc("我不懂分数").key_phrases(), Doc("ok :-)").key_phrases()
    (('не понимаю дроби',), ('懂分数',), ())
    """
    best: dict[str, tuple[float, int, str]] = {}
    for order, run in enumerate(_runs(text, tokens)):
        words = " ".join(run)[:PHRASE_CHARACTERS].strip()
        score = sum(map(word_rarity, run)) / math.sqrt(len(run))
        known = best.get(words.casefold())
        if known is None or score > known[0]:
            best[words.casefold()] = (score, order if known is None else known[1], words)
    ranked = sorted(best.values(), key=lambda entry: (-entry[0], entry[1]))
    return tuple(words for _, _, words in ranked)


def rarest_word(words: Sequence[str]) -> str:
    """The rarest of some words, function words included; empty without a word.

    Examples
    --------
    >>> rarest_word(["it", "is", "not", "so"]), rarest_word([])
    ('so', '')
    """
    return max((word[:PHRASE_CHARACTERS] for word in words), key=word_rarity, default="")


def _runs(text: str, tokens: Iterable[Token]) -> list[list[str]]:
    """Content words in a row, at most four together."""
    runs: list[list[str]] = []
    previous = -1
    for token in tokens:
        word = _content(token.text)
        if word is None:
            continue
        if runs and len(runs[-1]) < PHRASE_WORDS and _GAP.fullmatch(text, previous, token.start):
            runs[-1].append(word)
        else:
            runs.append([word])
        previous = token.end
    return runs


def _content(token: str) -> str | None:
    """The token as a word of a phrase; None for a mark, a function word or a lone letter."""
    if is_number(token):
        return token
    if not token[0].isalnum() or (len(token) == 1 and not is_dense(token)):
        return None
    if _APOSTROPHE.split(token, maxsplit=1)[0].lower() in STOP_WORDS:
        return None
    return token[:-2] if token[-2:] in ("'s", "’s") else token


def asks_what_was_told(plain: str) -> bool:
    """True if a text, in lower case, speaks of what its speaker told the listener.

    Examples
    --------
    >>> asks_what_was_told("which day did i tell you?"), asks_what_was_told("can you tell me the day?")
    (True, False)
    """
    return _OF_TELLING.search(plain) is not None


def asks(plain: str) -> bool:
    """True if a text, in lower case, asks something.

    Examples
    --------
    >>> asks("i like red. do you?"), asks("what is a square"), asks("i know what it is")
    (True, True, False)
    """
    return _ASKS.search(plain) is not None


def only_asks(sentence: str) -> bool:
    """True if a sentence, in lower case, is a question and nothing else.

    Examples
    --------
    >>> only_asks("and how do you say red?"), only_asks("can we draw"), only_asks("i like red, do you?")
    (True, True, False)
    """
    return _ONLY_ASKS.search(sentence) is not None


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
        """The phrases that say most about it, rarest first (`graphmem.text.doc`)."""
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


@dataclass(frozen=True)
class ParsedQuestion:
    """A question as it is searched.

    text : without the names of those who spoke and of the student, for its embedding
    words : its content words, in order, each once
    names : of those who spoke, the ones it names
    """

    text: str
    words: tuple[str, ...]
    names: tuple[str, ...]


def read_question(question: Doc, speakers: Iterable[str], student: str | None = None) -> ParsedQuestion:
    """Take the names of speakers and of the student out of a question, and find its words.

    What holds the name of somebody who takes part is what *others* said to them ("Hey Julia!"), so a name is no word
    to search for; it says whose memories are asked for. Names of others stay words like any.

    Parameters
    ----------
    question : Doc, any text
    speakers : names of all who spoke in the student's memories
    student : name of the student; its first word stands for it, too

    Returns
    -------
    ParsedQuestion

    Source: spec 10.1.

    Examples
    --------
    >>> read_question(Doc("When did Julia buy Bello's lead?"), ["Julia", "Tom"])
    ParsedQuestion(text="When did buy Bello's lead?", words=('buy', 'bello', 'lead'), names=('Julia',))
    >>> read_question(Doc("What does Jo's group eat?"), [], "Jo Hill")
    ParsedQuestion(text='What does group eat?', words=('group', 'eat'), names=())
    """
    text, names = question.text, []
    others, own = {s.strip() for s in speakers if s.strip()}, names_of(student)
    for name in sorted({*others, *own}, key=lambda n: (-len(n), n)):
        text, found = re.subn(rf"(?<!\w){re.escape(name)}(?:['’]s)?(?!\w)", " ", text, flags=re.IGNORECASE)
        if found and name in others:
            names.append(name)
    plain = " ".join(text.split())
    return ParsedQuestion(plain, query_words(question if plain == question.text else Doc(plain)), tuple(names))


def names_of(student: str | None) -> tuple[str, ...]:
    """Return what a student is called: the whole name and its first word; nothing where it is not known.

    Examples
    --------
    >>> names_of("Jo Hill"), names_of(None)
    (('Jo Hill', 'Jo'), ())
    """
    name = (student or "").strip()
    return tuple(dict.fromkeys((name, name.split()[0]))) if name else ()


def query_words(doc: Doc) -> tuple[str, ...]:
    """The words of a text that questions are not made of, in lower case, each once, in order.

    Examples
    --------
    >>> query_words(Doc("What did you say about the Apples, apples?"))
    ('say', 'apples')
    """
    # The index of words knows no apostrophes and no signs.
    words = (part for word in doc.plain_words for part in parts(word))
    return tuple(dict.fromkeys(word for word in words if word not in QUERY_STOP_WORDS))


def with_pronoun(question: str, name: str | None) -> str:
    """A question with "she" for the student's name: which name it is changes what a question seems to ask for.

    Parameters
    ----------
    question : str
    name : str, all of it; its first word stands for it, too

    Examples
    --------
    >>> with_pronoun("What does Jo still find hard? Is it Jo Hill's test?", "Jo Hill")
    'What does she still find hard? Is it her test?'
    >>> with_pronoun("When is my test?", None)
    'When is my test?'
    """
    for each in names_of(name):
        question = re.sub(rf"\b{re.escape(each)}\b(['’]s\b)?", lambda found: "her" if found[1] else "she", question)
    return question


def question_in(doc: Doc) -> Doc:
    """The sentence of a text that asks, of several the one that says most of what for; else the text itself.

    Examples
    --------
    >>> question_in(Doc("My cousin helps me. How should you teach me? I'll tell him.")).text
    'How should you teach me?'
    >>> question_in(Doc("What's my dog called? Do you remember?")).text, question_in(Doc("I cook.")).text
    ("What's my dog called?", 'I cook.')
    """
    asking = [sentence for sentence in doc.excerpt.sentences if sentence.asks]
    return max(reversed(asking), key=lambda each: len(each.stems - ASKING_STEMS), default=doc)


def information(text: str) -> float:
    """The chance that a text holds what is asked about later.

    Parameters
    ----------
    text : str, words as they were said

    Returns
    -------
    float in (0, 1), by the rarity of its words, names, numbers, words of time, first person, and whether it asks

    Notes
    -----
    Logistic regression on the turns of LoCoMo, conversations 1 to 5, of which something was remembered: is a turn
    evidence for any question? Of the evidence 66 % lies among the best 30 % of all turns where each conversation is
    judged by weights fitted on the other four; novelty and surprise find no more than chance.

    Source: spec 6.

    Examples
    --------
    >>> information("wow nice") < information("I moved") < information("I moved to Lisbon with Ottilie on Friday")
    True
    """
    doc = Doc(_BRACKETED.sub("", text))
    words = {w for w in doc.plain_words if w[0].isalpha() and len(w) >= COUNTED_LETTERS and w not in STOP_WORDS}
    rarity = sum(max(0.0, min(word_rarity(word), RAREST) - RARE_FROM) for word in words)
    evidence = (
        -4.95
        + 1.17 * math.log1p(rarity)
        + 1.15 * min(MOST_NAMES, len(doc.capitals))
        + 0.78 * min(MOST_NUMBERS, len(doc.numbers))
        + 1.64 * bool(doc.time_words)
        + 0.65 * (_FIRST_PERSON.search(text) is not None)
        - 0.76 * (doc.asks or text.rstrip().endswith("?"))
    )
    return 1.0 / (1.0 + math.exp(-evidence))


def language_of(text: str) -> str:
    """ISO 639-1 code of the language of a text; empty where it cannot be told.

    Examples
    --------
    >>> language_of("Hallo, ich heiße Jonas und wohne in Köln."), language_of("My dad hits me when he is drunk.")
    ('de', 'en')
    >>> language_of("I love liquorice."), language_of("12 + 30 = 42")
    ('en', '')
    """
    seen = text[:LANGUAGE_CHARACTERS]
    words = [word.lower().replace("’", "'") for word in _LETTERS.findall(seen)]
    if _HAN.search(seen):
        return "zh"
    if not words:
        return ""
    if _commonness(words, ENGLISH) >= SURE_ENGLISH:
        return ENGLISH
    # What no list knows tells nothing: "I love liquorice".
    words = [word for word in words if any(word in _zipf(code) for code in LOOKED_UP)] or words
    if _commonness(words, ENGLISH) >= SURE_ENGLISH:
        return ENGLISH
    first, second = sorted(LOOKED_UP, key=lambda code: -_commonness(words, code))[:2]
    return first if _commonness(words, first) - _commonness(words, second) >= SURE_LANGUAGE else ""


def may_be_english(text: str) -> bool:
    """True if whoever reads only English may read a text: its script is Latin, and its words are no other language's.

    Examples
    --------
    >>> [may_be_english(text) for text in ("kms fr lol", "Я хочу спать", "Aku tidak mengerti pecahan", "ich bin müde")]
    [True, False, False, False]
    """
    words = [word.lower().replace("’", "'") for word in _LETTERS.findall(text[:LANGUAGE_CHARACTERS])]
    if not words or sum(word.isascii() for word in words) < ASCII_SHARE * len(words):
        return False
    return _commonness(words, ENGLISH) >= LEAST_ENGLISH and language_of(text) in ("", ENGLISH)


def english_words() -> dict[str, float]:
    """The common English words, in lower case, each with its Zipf frequency."""
    return _zipf(ENGLISH)


def _commonness(words: list[str], code: str) -> float:
    """Mean Zipf frequency (powers of ten per thousand million words) of words in a language; 0 of those it lacks."""
    known = _zipf(code)
    return sum(known.get(word, 0.0) for word in words) / len(words)


@cache
def _zipf(code: str) -> dict[str, float]:
    # wordfreq takes half a second to import, which a command that reads no message should not wait for.
    from wordfreq import get_frequency_dict

    return {word: 9.0 + math.log10(share) for word, share in get_frequency_dict(code, "small").items()}
