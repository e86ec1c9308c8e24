"""Clauses: the parts of a sentence that state something each."""

import re

from graphmem.text.chunks import is_small_talk
from graphmem.text.doc import Doc, once_per_doc
from graphmem.text.lexicon import FIRST_PERSON, SECOND_PERSON
from graphmem.text.normalize import plain
from graphmem.text.questions import only_asks
from graphmem.text.sentences import SentenceSpan, stripped
from graphmem.text.words import word_rarity

CLAUSE_WORDS = 6
"""Words a clause needs to stand alone."""
INTRODUCTION_WORDS = 14
"""Words a clause has that only leads on to the next."""
TELLING_RARITY = 3.0
"""Rarity of a word by which a short answer tells something."""
MAX_CLAUSES = 40
"""Most clauses of one message; what follows belongs to the last."""

# Spaces are taken from the first of them, and all: else a long row of them would take for ever.
_CUT = re.compile(
    r"(?:[,;]|(?<![\s,;]))\s++(?=(?:and|but|so|also|plus|oh and|btw)\s+(?:now |then |also |maybe |even )?"
    r"(?:i|i'm|im|i've|ive|i'll|i'd|we|we're|my|our|he|she|they|it's|its|there's|the|if|when|pls|please|"
    r"don'?t|can|next|tomorrow|today|yesterday)\b)"
    r"|[,;]\s++(?=(?:i|i'm|im|i've|ive|i'll|ill|we|we're|my|our|he|she|they|it's|its|that's|thats|pls|please|only my)"
    r"\b)|(?<!\s)\s++[-–—]\s+|;\s+",
    re.IGNORECASE,
)
_SPLICE = re.compile(r"[,;]\s++(?!(?:and|but|so|also|plus|oh|btw)\b)", re.IGNORECASE)
_ASKED_BACK = re.compile(
    r"[,;.!]\s++(?=(?:(?:and|so|but)\s+)?(?:(?:how|what) about|you|u|yours?|what|what's|whats|where|when|who|why|how"
    r"|which|do|does|did|are|is|have|has|can|could|would|will|any)\b[^,;.!?]*\?\W*\Z)"
    r"|(?<!\s)\s++(?=(?:and|but|so) (?:how|what) (?:about|is|are|do|did) [^,;.!?]*\?\W*\Z)",
    re.IGNORECASE,
)
"""Between what one tells and the question one asks back: "I have a cat, how about you?"."""
TOLD_WORDS = 3
"""Words of what one tells before one asks back."""
# "My contacts and my skills" is one matter, "my dad sings and my mum is ill" are two.
_NAMED_MORE = re.compile(r"(?:and |but |so |also )?(?:my|our|the)\b", re.IGNORECASE)
_QUOTATION_MARKS = re.compile(r"[\"“”]")
_FINITE = re.compile(
    r"\b(?:is|are|am|was|were|has|have|had|do|does|did|will|would|can|could|should|must|may|\w+n't|\w{2,}(?:ed|es))\b"
    r"|\w's\b|\b(?:my|our|the) \w+ \w+[a-rt-z]s (?!to\b)\w",
    re.IGNORECASE,
)
_HOLDS_TOGETHER = re.compile(
    r"(?:and |so |but |then )?(?:to|for|in|with|by|from|based|next|finally|then"
    r"|therefore|now|given|as|if|when|whenever|since|because|bc|cause|cuz|that|after"
    r"|before|until|as soon as)\b",
    re.I,
)


def clauses(doc: Doc) -> tuple[SentenceSpan, ...]:
    """The clauses of a text, in order.

    Parameters
    ----------
    doc : Doc, of any length

    Returns
    -------
    tuple of (start, end), disjoint, ascending, each with a letter or digit; at most 40

    Source: spec 7 (a memory is one statement).

    Examples
    --------
    >>> text = "yes paid her on friday. and pls dont ask me about home every time, i'll say if i want to talk"
    >>> [text[start:end] for start, end in clauses(Doc(text))]
    ['yes paid her on friday.', 'and pls dont ask me about home every time', "i'll say if i want to talk"]
    >>> text = "can we draw next time, i like comics"
    >>> [text[start:end] for start, end in clauses(Doc(text))]
    ['can we draw next time', 'i like comics']
    >>> text = "yeah i have a cat, how about you?"
    >>> [text[start:end] for start, end in clauses(Doc(text))]
    ['yeah i have a cat', 'how about you?']
    """
    found = [span for sentence in doc.sentences for span in _parts(doc.text, sentence.start, sentence.end)]
    found = [span for span in found if any(map(str.isalnum, doc.text[slice(*span)]))]
    if len(found) > MAX_CLAUSES:
        found = [*found[: MAX_CLAUSES - 1], (found[MAX_CLAUSES - 1][0], found[-1][1])]
    return tuple(found)


def _parts(text: str, start: int, end: int) -> list[SentenceSpan]:
    parts: list[SentenceSpan] = []
    for match in _CUT.finditer(text, start, end):
        left, right = text[start : match.start()], text[match.end() : end]
        if len(_QUOTATION_MARKS.findall(left)) % 2:
            continue  # within what is quoted
        if _NAMED_MORE.match(right) and not _FINITE.search(right):
            continue
        # "Can we draw, i like comics": what follows a question is told, however short it is; "bo moved away, my best
        # friend is al now" are two sentences, and "i like teal and my room is teal" is one.
        spliced = _SPLICE.match(text, match.start()) and _FINITE.search(left) and _FINITE.search(right)
        least = TOLD_WORDS if spliced or only_asks(plain(left)) else CLAUSE_WORDS
        short = len(left.split()) < least or len(right.split()) < least
        if short or (_HOLDS_TOGETHER.match(left.strip()) and len(left.split()) < INTRODUCTION_WORDS):
            continue
        parts.append(stripped(text, start, match.start()))
        start = match.end()
    asked = _ASKED_BACK.search(text[start:end])
    if asked is not None and _is_told(text[start : start + asked.start()]):
        parts.append(stripped(text, start, start + asked.start()))
        start += asked.end()
    return [*parts, stripped(text, start, end)]


def _is_told(text: str) -> bool:
    """True of words that tell of who says them, and do not lead on to a question."""
    words = Doc(text).plain_words
    first = not FIRST_PERSON.isdisjoint(words)
    return first and len(words) >= TOLD_WORDS and _HOLDS_TOGETHER.match(text.strip()) is None


_LEANS = re.compile(
    r"\W*(?:(?:and|but|so|oh|then|also|yes|yeah|well|ok|cause|because)\s+)*(?:it|it's"
    r"|its|he|he's|hes|she|she's|shes|they|they're|"
    r"that|that's|thats|this|these|those|only|not|because|cause|bc|cuz|which|even|with"
    r"|like|just|same|for that|them|her|him|"
    r"there|mind|else|such|in there)\b(?! (?:mum|dad)\b)",
    re.IGNORECASE,
)
FRAGMENT_WORDS = 2
"""Most words of a fragment."""
MAX_STATEMENT_WORDS = 40
"""Words from which on a statement takes up no further clause."""


@once_per_doc
def statement_spans(doc: Doc) -> tuple[SentenceSpan, ...]:
    """The clauses of a text, each with those after it that cannot be understood without it.

    Examples
    --------
    >>> text = "emil is moving in march. hes my best friend. i cried a bit"
    >>> [text[start:end] for start, end in statement_spans(Doc(text))]
    ['emil is moving in march. hes my best friend.', 'i cried a bit']
    >>> text = "We lost again. I feel so... tired."
    >>> [text[start:end] for start, end in statement_spans(Doc(text))]
    ['We lost again.', 'I feel so... tired.']
    """
    found: list[SentenceSpan] = []
    for start, end in clauses(doc):
        leaning = leans(Doc(doc.text[start:end])) and not doc.text[:end].endswith("?")
        short = bool(found) and len(doc.text[found[-1][0] : end].split()) <= MAX_STATEMENT_WORDS
        asked = bool(found) and doc.text[: found[-1][1]].rstrip().endswith("?")
        if leaning and short and not asked and _says_enough(doc.text[slice(*found[-1])]):
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return tuple(found)


def stated(doc: Doc) -> str:
    """The statements of a text that ask nothing, joined by spaces.

    Examples
    --------
    >>> stated(Doc("I sold it. Do you still skate?"))
    'I sold it.'
    """
    told = [Doc(doc.text[slice(*span)]) for span in statement_spans(doc)]
    return " ".join(each.text for each in told if not each.asks and not each.text.endswith("?"))


def told_clauses(doc: Doc) -> tuple[str, ...]:
    """Return the clauses of a message that ask nothing; none where it is one clause.

    Examples
    --------
    >>> told_clauses(Doc("yeah i have a cat, how about you?")), told_clauses(Doc("I have a cat."))
    (('yeah i have a cat',), ())
    """
    pieces = [Doc(doc.text[slice(*span)]) for span in statement_spans(doc)]
    told = [each.text for each in pieces if not (each.asks or each.text.endswith("?"))]
    return tuple(dict.fromkeys(each for each in told if len(each.split()) >= TOLD_WORDS and each != doc.text))


def leans(clause: Doc) -> bool:
    """Return whether a clause means little without what was said just before it.

    Examples
    --------
    >>> leans(Doc("it is blue")), leans(Doc("two")), leans(Doc("I have two brothers"))
    (True, True, False)
    """
    return is_fragment(clause) or _LEANS.match(clause.text) is not None


def answers_question(doc: Doc, before: str) -> bool:
    """Return whether a message is a short answer to a question about its speaker, and tells something by it.

    Examples
    --------
    >>> answers_question(Doc("manhattan"), "Where do you live?"), answers_question(Doc("fine"), "How are you?")
    (True, False)
    """
    asked = [sentence for sentence in Doc(before).sentences if sentence.text.endswith("?")]
    personal = bool(asked) and not SECOND_PERSON.isdisjoint(asked[-1].plain_words)
    return personal and leans(doc) and any(word_rarity(word) >= TELLING_RARITY for word in doc.plain_words)


def is_fragment(clause: Doc) -> bool:
    """True of a word, or two without verb, number or speaker: what stands before it makes it a statement.

    Examples
    --------
    >>> is_fragment(Doc("numb.")), is_fragment(Doc("I'm dyslexic")), is_fragment(Doc("Thanks!"))
    (True, False, False)
    """
    words = clause.plain_words
    if not 0 < len(words) <= FRAGMENT_WORDS or clause.numbers or is_small_talk(clause):
        return False
    return len(words) == 1 or (FIRST_PERSON.isdisjoint(words) and _FINITE.search(clause.text) is None)


def _says_enough(text: str) -> bool:
    return len(text.split()) > 1
