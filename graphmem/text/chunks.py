"""Pieces of a message that are worth remembering whole, what leans on the text before, and discourse relations."""

import math
import re
from collections.abc import Sequence
from itertools import islice

from graphmem.model import EdgeType, Relation
from graphmem.text.doc import Doc
from graphmem.text.lexicon import FIRST_PERSON, LIGHT, PHATIC, SECOND_PERSON
from graphmem.text.normalize import straightened
from graphmem.text.words import SentenceSpan, stripped, word_rarity

CHUNKED_WORDS = 80
"""Words from which a message is cut."""
TARGET = 55
"""Words a piece of a long message should have; 30 to 80 come of it."""
MAX_CHUNKS = 40
"""Most pieces of one message; in longer ones the pieces grow."""
CHARACTERS_A_WORD = 6
"""For what is written without spaces, or is one endless word."""

_BREAK = re.compile(r"[,;:]\s|\s[–—-]\s|[，、；]")
_SPACES = re.compile(r"\s+")
_NO_WORRIES = re.compile(r"\bno (?=worries|problem|way\b|kidding)", re.I)
_CAPITALISED = re.compile(r"[A-Z][a-z]+$")


TELLING_RARITY = 3.0
"""Rarity of a word by which a short answer tells something."""
FRAGMENT_WORDS = 2
"""Most words of a fragment."""
_FINITE = re.compile(
    r"\b(?:is|are|am|was|were|has|have|had|do|does|did|will|would|can|could|should|must|may|\w+n't|\w{2,}(?:ed|es))\b"
    r"|\w's\b|\b(?:my|our|the) \w+ \w+[a-rt-z]s (?!to\b)\w",
    re.IGNORECASE,
)
_LEANS = re.compile(
    r"\W*(?:(?:and|but|so|oh|then|also|yes|yeah|well|ok|cause|because)\s+)*(?:it|it's"
    r"|its|he|he's|hes|she|she's|shes|they|they're|"
    r"that|that's|thats|this|these|those|only|not|because|cause|bc|cuz|which|even|with"
    r"|like|just|same|for that|them|her|him|"
    r"there|mind|else|such|in there)\b(?! (?:mum|dad)\b)",
    re.IGNORECASE,
)
OUTRIGHT_WEIGHT, LOOSE, ORDER = 0.9, 0.7, 0.5
"""Weight of what is said outright, of what a word often says, and of being told one after the other: just enough to be
followed (spec 10)."""
OPENING_CHARACTERS = 100
"""How much of a statement is looked at."""
# The type, whether the edge runs from the statement before to this one, the weight. The first that fits counts.
_OPENINGS = tuple(
    (re.compile(rf"\W*(?:(?:oh|well|ok|and|but|yes|yeah),? )*(?:{words})\b", re.IGNORECASE), type_, back, weight)
    for words, type_, back, weight in (
        (r"because|cuz|'cause|since (?:i|we)", EdgeType.CAUSES, False, OUTRIGHT_WEIGHT),
        (r"(?:that's|which is|that is) why|therefore|as a result|so (?:i|we|now)", EdgeType.CAUSES, True, LOOSE),
        (r"(?:that|this|it|which) (?:really )?(?:made|makes) me", EdgeType.CAUSES, True, LOOSE),
        (r"(?:that|this|it|which) (?:really |always )?reminds? me", EdgeType.REMINDS_OF, True, OUTRIGHT_WEIGHT),
        (r"(?:that|this|it|which)? ?(?:helps?|helped|lets?) me|now i can", EdgeType.ENABLES, True, LOOSE),
        (r"i was wrong|my mistake|no,? actually|that's wrong", EdgeType.CONTRADICTS, False, OUTRIGHT_WEIGHT),
        (r"for example|i agree|exactly", EdgeType.SUPPORTS, False, LOOSE),
    )
)


def chunks(doc: Doc) -> tuple[SentenceSpan, ...]:
    """The pieces of a message that are remembered one by one, in order.

    Parameters
    ----------
    doc : Doc, of any length

    Returns
    -------
    tuple of (start, end), disjoint, ascending, without white space at their ends, each with a letter or digit. Usually
    one: the message without greetings, thanks and praise at its ends; none where it is nothing else. More than 80
    words make pieces of about 30 to 80, cut between sentences, at most 40 (then they grow)

    Source: spec 7. Whole messages, since recall is measured by messages and split ones were found worse.

    Examples
    --------
    >>> text = "Hey Mel! Good to see you! I went to a fair. Wow. Then it rained. Thanks!"
    >>> [text[start:end] for start, end in chunks(Doc(text))]
    ['I went to a fair. Wow. Then it rained.']
    >>> chunks(Doc("Hello! How are you?")), chunks(Doc("😀 ..."))
    ((), ())
    """
    text = doc.text
    spans = _without_small_talk(doc)
    if not spans:
        return ()
    pieces = _gathered(text, spans) if _size(text[spans[0][0] : spans[-1][1]]) > CHUNKED_WORDS else [_whole_span(spans)]
    return tuple(piece for piece in pieces if any(map(str.isalnum, text[slice(*piece)])))


def is_small_talk(sentence: Doc) -> bool:
    """True if a sentence greets, thanks, praises or takes leave, and says nothing else.

    Examples
    --------
    >>> said = ("Hey Mel!", "Wow, that's cool, Caroline!", "I'm not good at it", "Paris!", "No.")
    >>> [is_small_talk(Doc(sentence)) for sentence in said]
    [True, True, False, False, False]
    """
    if len(sentence.text) > 200:
        return False
    if _NO_WORRIES.search(sentence.text):
        sentence = Doc(_NO_WORRIES.sub("", sentence.text))
    words, plain = sentence.words, sentence.plain_words
    if not any(word in PHATIC for word in plain):
        return not words
    names = [i for i, word in enumerate(plain) if word not in PHATIC and word not in LIGHT]
    return all(_CAPITALISED.match(words[i]) and _is_name_called(plain, i) for i in names[:3]) and len(names) <= 1


def _is_name_called(words: tuple[str, ...], place: int) -> bool:
    return place == len(words) - 1 or place == 0 or words[place - 1] in PHATIC


def _without_small_talk(doc: Doc) -> list[SentenceSpan]:
    sentences = doc.sentences
    first, last = 0, len(sentences)
    while first < last and is_small_talk(sentences[first]):
        first += 1
    while last > first and is_small_talk(sentences[last - 1]):
        last -= 1
    return [(sentence.start, sentence.end) for sentence in sentences[first:last]]


def _whole_span(spans: list[SentenceSpan]) -> SentenceSpan:
    return spans[0][0], spans[-1][1]


def _size(text: str) -> int:
    """Words, or what would be as many words where nothing is put between them."""
    return max(len(text.split()), len(text) // (2 * CHARACTERS_A_WORD))


def _gathered(text: str, spans: list[SentenceSpan]) -> list[SentenceSpan]:
    """Neighbouring sentences put together until a piece has its size."""
    total = sum(_size(text[slice(*span)]) for span in spans)
    target = max(TARGET, math.ceil(total / MAX_CHUNKS))
    most = target * CHUNKED_WORDS // TARGET
    small = [part for span in spans for part in _cut_long(text, span, most)]
    pieces: list[list[SentenceSpan]] = [[]]
    size = 0
    for span in small:
        more = _size(text[slice(*span)])
        if pieces[-1] and (size >= target or size + more > most):
            pieces.append([])
            size = 0
        pieces[-1].append(span)
        size += more
    merged = [_whole_span(piece) for piece in pieces]
    return _few(text, merged, target)


def _few(text: str, pieces: list[SentenceSpan], target: int) -> list[SentenceSpan]:
    """A short last piece goes to the one before; too many are joined in twos, threes ..."""
    if len(pieces) > 1 and _size(text[slice(*pieces[-1])]) < target // 2:
        pieces = [*pieces[:-2], (pieces[-2][0], pieces[-1][1])]
    together = math.ceil(len(pieces) / MAX_CHUNKS)
    return [_whole_span(pieces[i : i + together]) for i in range(0, len(pieces), together)]


def _cut_long(text: str, span: SentenceSpan, most: int) -> list[SentenceSpan]:
    """A sentence of too many words, cut at commas, else at spaces, else anywhere."""
    start, end = span
    parts = []
    while _size(text[start:end]) > most:
        reach = min(end, start + _reach(text, start, end, most))
        places = [m.end() for m in _BREAK.finditer(text, start + (reach - start) // 2, reach)]
        space = text.rfind(" ", start + 1, reach)
        cut = places[-1] if places else space if space > start else reach
        parts.append(stripped(text, start, cut))
        start = cut
    parts.append(stripped(text, start, end))
    return [part for part in parts if part[0] < part[1]]


def _reach(text: str, start: int, end: int, most: int) -> int:
    """Characters that hold about `most` words from here."""
    limit = min(end - start, most * 2 * CHARACTERS_A_WORD)
    found = _SPACES.finditer(text, start, start + limit)
    last = next(islice(found, most - 1, None), None)
    return last.end() - start if last else limit


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


def relations(pieces: Sequence[Doc], feelings: Sequence[bool], passes: int = 2) -> tuple[Relation, ...]:
    """Return the relations between the statements of a message, and of the first to what was remembered before it.

    Parameters
    ----------
    pieces : the statements, in order
    feelings : for each, whether it tells a feeling: what caused it, evoked it
    passes : 1 to 3; with one only the order is told

    Returns
    -------
    tuple of Relation, at most one between two statements and one to what was before (`target` None). The edge runs from
    `source` to `target`, or back where `reverse`; PRECEDES from the earlier to the later, where nothing else runs there

    Source: spec 2, 7.

    Examples
    --------
    >>> relations([Doc("Because the fractions had different denominators.")], [False])
    (Relation(source=0, target=None, type=<EdgeType.CAUSES: 'CAUSES'>, weight=0.9, reverse=False),)
    >>> [r.type.value for r in relations([Doc("That made me so happy!")], [True])]
    ['EVOKES']
    """
    found = list[Relation]()
    for place, piece in enumerate(pieces):
        before = place - 1 if place else None
        opened = _opening(piece, place, before, feelings[place]) if passes > 1 else None
        if opened is not None and opened.reverse and before is not None:
            opened = Relation(before, place, opened.type, opened.weight)
        if opened is not None:
            found.append(opened)
        elif before is not None:
            found.append(Relation(before, place, EdgeType.PRECEDES, ORDER))
    return tuple(found)


def _opening(piece: Doc, here: int, there: int | None, feeling: bool) -> Relation | None:
    text = straightened(piece.text[:OPENING_CHARACTERS])
    for pattern, type_, back, weight in _OPENINGS:
        if pattern.match(text):
            evoked = feeling and type_ is EdgeType.CAUSES and back
            return Relation(here, there, EdgeType.EVOKES if evoked else type_, weight, reverse=back)
    return None
