"""Where one memory ends and the next begins: a message without its small talk, in pieces worth keeping whole."""

import math
import re
from itertools import islice

from graphmem.text.discourse import join

Span = tuple[int, int]
"""Start and end in a message, in characters."""

LONG = 80
"""Words from which a message is cut."""
TARGET = 55
"""Words a piece of a long message should have; 30 to 80 come of it."""
MOST = 40
"""Most pieces of one message; in longer ones the pieces grow."""
CHARACTERS_A_WORD = 6
"""For what is written without spaces, or is one endless word."""

_END = re.compile(r"[.!?…]+[\"'”’)\]*]*(?=\s|$)|[。！？]+|\n+")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:mr|mrs|ms|dr|st|prof|vs|no|approx|e\.g|i\.e|a\.m|p\.m|[A-Za-z]|\d{1,2})$", re.I
)
_BREAK = re.compile(r"[,;:]\s|\s[–—-]\s|[，、；]")
_SPACE = re.compile(r"\s+")
# Control, format, private and lone surrogate characters; the joiners of emoji and of Indic and Persian words stay.
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"
    "\ud800-\uf8ff\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W\d_]+)*")
_NO_WORRIES = re.compile(r"\bno (?=worries|problem|way\b|kidding)", re.I)
_NAME = re.compile(r"[A-Z][a-z]+$")

# What makes a sentence small talk, and what may stand around it. No "I", "my", "not", "yes": those tell something.
_PHATIC = frozenset(
    """
    hi hello hey hiya howdy yo sup greetings morning afternoon evening goodnight bye goodbye cya thanks thank thx
    ty thnx cheers appreciate welcome wow whoa oh ooh ohh ah aha aww aw haha hahaha hehe lol omg ok okay alright
    cool nice great awesome amazing good lovely sweet fantastic wonderful excellent brilliant perfect super neat
    incredible congrats congratulations yay woohoo sorry please hmm hm um uh well how how's how're how've what's up
    glad talk chat kidding interesting impressive inspiring worries problem luck
    """.split()  # noqa: SIM905
)
_LIGHT = frozenset(
    """
    a an the is it's its it that that's thats this these so really very pretty totally absolutely truly such just
    too also to of for and you your you're u are all much lot lots man dude buddy mate guys everyone there again
    have been doing going day things everything anything new see seeing hear hearing know from with later soon
    tomorrow about i'm be sounds sound looks look fun bit on always sharing asking help support what job work
    feedback kind words thing compliment encouragement
    """.split()  # noqa: SIM905
)


def units(text: str, passes: int = 1) -> tuple[Span, ...]:
    """The pieces of a message that are remembered one by one, in order.

    Parameters
    ----------
    text : str, of any length
    passes : 1 to 3; from 2 a piece is also cut where two full clauses are joined as cause and effect

    Returns
    -------
    tuple of (start, end), disjoint, ascending, without white space at their ends, each with a letter or digit. Usually
    one: the message without greetings, thanks and praise at its ends; none where it is nothing else. More than 80
    words make pieces of about 30 to 80, cut between sentences, at most 40 (then they grow)

    Source: spec 7. Whole messages, since recall is measured by messages and split ones were found worse.

    Examples
    --------
    >>> text = "Hey Mel! Good to see you! I went to a fair. Wow. Then it rained. Thanks!"
    >>> [text[start:end] for start, end in units(text)]
    ['I went to a fair. Wow. Then it rained.']
    >>> units("Hello! How are you?"), units("😀 ...")
    ((), ())
    """
    spans = _without_small_talk(text)
    if not spans:
        return ()
    pieces = _gathered(text, spans) if _size(text[spans[0][0] : spans[-1][1]]) > LONG else [_whole(spans)]
    if passes > 1 and len(pieces) < MOST:
        pieces = [part for piece in pieces for part in _clauses(text, piece)][:MOST] if len(pieces) == 1 else pieces
    return tuple(piece for piece in pieces if any(map(str.isalnum, text[slice(*piece)])))


def sentence_spans(text: str) -> list[Span]:
    """The sentences and lines of a text, without the white space around them; blank ones left out.

    Examples
    --------
    >>> [("I met Mr. Hill. At 3.30? Yes!")[a:b] for a, b in sentence_spans("I met Mr. Hill. At 3.30? Yes!")]
    ['I met Mr. Hill.', 'At 3.30?', 'Yes!']
    """
    spans, start = [], 0
    for match in _END.finditer(text):
        if match.group() == "." and _ABBREVIATION.search(text, max(start, match.start() - 7), match.start()):
            continue
        spans.append((start, match.end()))
        start = match.end()
    spans.append((start, len(text)))
    return [span for span in (_stripped(text, *span) for span in spans) if span[0] < span[1]]


def is_small_talk(sentence: str) -> bool:
    """Whether a sentence greets, thanks, praises or takes leave, and says nothing else.

    Examples
    --------
    >>> [is_small_talk(s) for s in ("Hey Mel!", "Wow, that's cool, Caroline!", "I'm not good at it", "Paris!", "No.")]
    [True, True, False, False, False]
    """
    if len(sentence) > 200:
        return False
    words = _WORD.findall(_NO_WORRIES.sub("", sentence))
    plain = [word.lower().replace("’", "'") for word in words]
    if not any(word in _PHATIC for word in plain):
        return not words
    names = [i for i, word in enumerate(plain) if word not in _PHATIC and word not in _LIGHT]
    return all(_NAME.match(words[i]) and _is_addressed(plain, i) for i in names[:3]) and len(names) <= 1


def cleaned(text: str) -> str:
    """A text on one line without control characters and what cannot be seen; markup stays as text.

    Examples
    --------
    >>> cleaned("so\\u200b it  is\\x07\\n<b>9</b>")
    'so it is <b>9</b>'
    """
    return _SPACE.sub(" ", _UNSEEN.sub("", text)).strip()


def _is_addressed(words: list[str], place: int) -> bool:
    return place == len(words) - 1 or place == 0 or words[place - 1] in _PHATIC


def _without_small_talk(text: str) -> list[Span]:
    spans = sentence_spans(text)
    first, last = 0, len(spans)
    while first < last and is_small_talk(text[slice(*spans[first])]):
        first += 1
    while last > first and is_small_talk(text[slice(*spans[last - 1])]):
        last -= 1
    return spans[first:last]


def _whole(spans: list[Span]) -> Span:
    return spans[0][0], spans[-1][1]


def _size(text: str) -> int:
    """Words, or what would be as many words where nothing is put between them."""
    return max(len(text.split()), len(text) // (2 * CHARACTERS_A_WORD))


def _gathered(text: str, spans: list[Span]) -> list[Span]:
    """Neighbouring sentences put together until a piece has its size."""
    total = sum(_size(text[slice(*span)]) for span in spans)
    target = max(TARGET, math.ceil(total / MOST))
    most = target * LONG // TARGET
    small = [part for span in spans for part in _cut_long(text, span, most)]
    pieces: list[list[Span]] = [[]]
    size = 0
    for span in small:
        more = _size(text[slice(*span)])
        if pieces[-1] and (size >= target or size + more > most):
            pieces.append([])
            size = 0
        pieces[-1].append(span)
        size += more
    merged = [_whole(piece) for piece in pieces]
    return _few(text, merged, target)


def _few(text: str, pieces: list[Span], target: int) -> list[Span]:
    """A short last piece goes to the one before; too many are joined in twos, threes ..."""
    if len(pieces) > 1 and _size(text[slice(*pieces[-1])]) < target // 2:
        pieces = [*pieces[:-2], (pieces[-2][0], pieces[-1][1])]
    together = math.ceil(len(pieces) / MOST)
    return [_whole(pieces[i : i + together]) for i in range(0, len(pieces), together)]


def _cut_long(text: str, span: Span, most: int) -> list[Span]:
    """A sentence of too many words, cut at commas, else at spaces, else anywhere."""
    start, end = span
    parts = []
    while _size(text[start:end]) > most:
        reach = min(end, start + _reach(text, start, end, most))
        places = [m.end() for m in _BREAK.finditer(text, start + (reach - start) // 2, reach)]
        space = text.rfind(" ", start + 1, reach)
        cut = places[-1] if places else space if space > start else reach
        parts.append(_stripped(text, start, cut))
        start = cut
    parts.append(_stripped(text, start, end))
    return [part for part in parts if part[0] < part[1]]


def _reach(text: str, start: int, end: int, most: int) -> int:
    """Characters that hold about `most` words from here."""
    limit = min(end - start, most * 2 * CHARACTERS_A_WORD)
    found = _SPACE.finditer(text, start, start + limit)
    last = next(islice(found, most - 1, None), None)
    return last.end() - start if last else limit


def _clauses(text: str, piece: Span) -> list[Span]:
    """A piece cut before the word that joins cause and effect, where both sides say enough."""
    start, end = piece
    for first, last in sentence_spans(text[start:end]):
        found = join(text[start + first : start + last])
        if found is not None:
            cut = start + first + found.place
            return [_stripped(text, start, cut), _stripped(text, cut, end)]
    return [piece]


def _stripped(text: str, start: int, end: int) -> Span:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
