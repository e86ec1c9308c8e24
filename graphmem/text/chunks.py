"""Chunking: a message without its small talk, in pieces worth remembering whole."""

import math
import re
from itertools import islice

from graphmem.text.doc import Doc
from graphmem.text.lexicon import LIGHT, PHATIC
from graphmem.text.sentences import SentenceSpan, stripped

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
