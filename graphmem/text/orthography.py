"""Respelling hastily typed text: sentence marks, capitals and spelling, as a careful writer would have put them.

What reads language (sentences, questions, names, slots) has learned from text that is written properly; children
type "wats my dog called do u rember". A small network says of each word whether a sentence ends behind it or a
question, whether it is a name, and whether it is misspelt; how it is spelt is looked up, in what was learned of
variants or else among common English words. `scripts/make_orthography.py` makes it; figures lie beside the weights.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import process
from rapidfuzz.distance import OSA

from graphmem.errors import SetupError
from graphmem.maths.chances import logistic, softmax
from graphmem.text.embedder import ShippedNetwork, open_network, shipped_network
from graphmem.text.language import ENGLISH, language_of
from graphmem.text.lexicon import STOP_WORDS, TIME_WORDS

ORTHOGRAPHY_FOLDER = Path(__file__).with_name("weights") / "orthography"
ORTHOGRAPHY_ANSWERS = 5
"""Numbers that the network answers of a word: no end, end, question; a name; misspelt."""
END, ASKS, NAME, MISSPELT = 0.7, 0.5, 0.5, 0.5
"""Chances from which on a sentence ends within a text, its last one asks, a word is a name, a word is misspelt; the
first was chosen on held-out rows."""
SPLICED = 0.9
"""The same of an end where a comma stands."""
SURE_END = 0.95
"""The same of an end beside a part of a sentence."""
RESPELLED_CHARACTERS = 500
"""Characters of a text that are respelled; what follows stays as it is."""
COMMON, KNOWN = 3.2, 3.0
"""Frequency (Zipf scale) of a word that a misspelling may stand for, and below which a word is none."""
LONG = 9
"""Letters from which on a word may be misspelt twice."""
CLEARLY = 0.6
"""How much better (Zipf scale) the best spelling must be than the next."""
_PIECE = re.compile(r"\S+")
_CORE = re.compile(r"[^\W_](?:[\w'’.-]*[^\W_])?")
_MARKS = re.compile(r"[.!?…;:]")
_CASED = re.compile(r"[A-Z].*[.!?…][\"'”)\]]*\s*", re.DOTALL)
_PLAIN = re.compile(r"[a-zA-Z][a-z'’]*")
_FORMULA = re.compile(r"=|->|\^|\b[a-z]\s*[+*]\s*[a-z0-9]\b")
CharacterSpan = tuple[int, int]
"""Start and end in a text."""
# What one says of oneself without "I"; "don't", too, is said to others.
_SUBJECTLESS = frozenset(
    "can't cannot couldn't didn't won't wouldn't haven't hadn't wasn't got had went saw was".split()  # noqa: SIM905
)
_SHORTENED = re.compile(
    r"(?:i|we|they|you|who|could|would|should|might|must)(ve)|(?:we|they|you|who)(re)"
    r"|(?:i|we|they|you|he|she|it|that|there|who)(ll)|(?:we|they|you|he|she|who)(d)"
    r"|(?:is|are|was|were|do|does|did|have|has|had|could|would|should|must|need|might)n(t)"
)
"""Words whose apostrophe is missing."""
_LEADING = frozenset(
    "on in at by for from with during after before befor until till when wen whenever if since because as while".split()  # noqa: SIM905
)
"""Words that a part of a sentence begins with, which is none by itself."""
_TRAILING = frozenset("because cos cuz coz cause bc than which that".split())  # noqa: SIM905
"""Words that go on with a sentence."""
_JOINING = frozenset({"and", "but", "so"})
"""Words that join what might be two sentences."""
_OPEN = frozenset("that the a an and or but of to my our your his their because with if when than as".split())  # noqa: SIM905
"""Words that no sentence ends with."""
_STARTS = frozenset(word.replace("'", "") for word in STOP_WORDS) - frozenset(
    "of to in on at with for from called".split()  # noqa: SIM905
)
"""Words that a sentence may begin with which is not marked as one."""


@dataclass(frozen=True)
class Piece:
    """A word of a text, with its place there, and of what was made of it."""

    start: int
    end: int
    original_start: int
    original_end: int


@dataclass(frozen=True)
class Respelled:
    """A text as a careful writer would have put it.

    pieces : its words in order, each with the place of what it was made of; empty where nothing was changed

    Examples
    --------
    >>> respelled = Respelled("What's up?", "wats up", (Piece(0, 6, 0, 4), Piece(7, 10, 5, 7)))
    >>> respelled.original_of(7, 10), Respelled("What's up?", "What's up?").original_of(0, 6)
    ('up', "What's")
    """

    text: str = field(repr=False)
    original: str = field(repr=False)
    pieces: tuple[Piece, ...] = field(default=(), repr=False)

    def original_of(self, start: int, end: int) -> str:
        """The words that a span of the text was made of."""
        return self.original[slice(*self.original_span(start, end))]

    def original_span(self, start: int, end: int) -> CharacterSpan:
        """The place of the words that a span of the text was made of."""
        if not self.pieces:
            return start, end
        inside = [each for each in self.pieces if each.start < end and each.end > start]
        return (inside[0].original_start, inside[-1].original_end) if inside else (0, 0)


@dataclass(frozen=True)
class WordReading:
    """What the network makes of the words of a text, an array entry for each.

    ends : shape (words, 3), chances that no sentence ends behind it, that one ends, that a question ends
    """

    ends: NDArray[np.float32]
    names: NDArray[np.float32]
    misspelt: NDArray[np.float32]


class Speller:
    """Reads words; may be used by several threads at once.

    Raises
    ------
    SetupError      a file is missing or damaged
    """

    def __init__(self, network: ShippedNetwork, threads: int, folder: Path = ORTHOGRAPHY_FOLDER) -> None:
        self._network = network
        self._session: Any = open_network(folder, threads)
        self.variants = read_variants(folder / "variants.json")

    def read(self, text: str, ends: Sequence[int]) -> WordReading:
        """What the network makes of the words that end at some places of a text, ascending."""
        hidden, spans = self._network.seen_tokens(text)
        answers = self._session.run(None, {"hidden": hidden})[0][0]
        return word_reading(answers[last_tokens(spans, ends)])


def word_reading(answers: NDArray[np.float32]) -> WordReading:
    """The reading that the network's numbers stand for, of shape (words, 5)."""
    return WordReading(softmax(answers[:, :3]), logistic(answers[:, 3]), logistic(answers[:, 4]))


def last_tokens(spans: Sequence[CharacterSpan], ends: Sequence[int]) -> list[int]:
    """The last token within each word that ends at some place, ascending; the one before where the text was cut."""
    found, place = [], 0
    for end in ends:
        while place + 1 < len(spans) and 0 < spans[place + 1][1] <= end:
            place += 1
        found.append(place)
    return found


def read_variants(path: Path) -> Mapping[str, str]:
    """How misspelt words are spelt.

    Raises
    ------
    SetupError      the file is missing or damaged
    """
    try:
        found: Mapping[str, str] = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise SetupError(f"The weights in {path} cannot be loaded ({error}): install graphmem again.") from error
    return found


@lru_cache(maxsize=1)
def load_speller() -> Speller:
    """The network that ships, once a process."""
    return Speller(shipped_network(1), 1)


def respelled(text: str) -> Respelled:
    """A text as a careful writer would have put it: the same words in the same order, and "I" where it is left out.

    What is written properly, what is not English and what holds a formula is left as it is.

    Examples
    --------
    >>> respelled("wats my dog called do u rember").text
    "What's my dog called? Do you remember?"
    >>> respelled("Fine. It's 12.").text
    "Fine. It's 12."
    """
    # A word that is cut is no word.
    head = text if len(text) <= RESPELLED_CHARACTERS else text[: text.rfind(" ", 0, RESPELLED_CHARACTERS) + 1]
    if not head or is_tidy(text) or _FORMULA.search(head) or language_of(head) not in ("", ENGLISH):
        return Respelled(text, text)
    places = [match.span() for match in _PIECE.finditer(head)]
    cores = [core_span(head, *span) for span in places]
    read = [core for core in cores if core is not None]
    if not read:
        return Respelled(text, text)
    speller = load_speller()
    reading = speller.read(head, [end for _, end in read])
    words = list(_words(head, places, cores, reading, speller.variants))
    written, pieces = "", []
    for place, (span, word) in enumerate(zip(places, words, strict=True)):
        written += head[places[place - 1][1] if place else 0 : span[0]]
        pieces.append(Piece(len(written), len(written) + len(word), *span))
        written += word
    tail = head[places[-1][1] :] + text[len(head) :]
    if text[len(head) :]:
        pieces.append(Piece(len(written), len(written) + len(tail), places[-1][1], len(text)))
    made = written + tail
    return Respelled(made, text, tuple(pieces)) if made != text else Respelled(text, text)


def _words(
    text: str,
    places: Sequence[CharacterSpan],
    cores: Sequence[CharacterSpan | None],
    reading: WordReading,
    variants: Mapping[str, str],
) -> Iterator[str]:
    """The words of a text as they are written, with their marks."""
    numbers = iter(range(len(reading.names)))
    of_word = [None if core is None else next(numbers) for core in cores]
    behind = ["" if core is None else text[core[1] : span[1]] for span, core in zip(places, cores, strict=True)]
    marks: list[str] = []
    first = 0
    for place, number in enumerate(of_word):
        last = place + 1 == len(places)
        ends = None if number is None else reading.ends[number]
        able = last or _parts(text, cores[first : place + 2], ends, reading, of_word[place + 1 : place + 2])
        marks.append(_mark(behind[place], ends, last) if ends is not None and able else "")
        if marks[-1] or _MARKS.search(behind[place]):
            first = place + 1
    begins = True
    for place, (span, core, number) in enumerate(zip(places, cores, of_word, strict=True)):
        if core is None or number is None:
            yield text[slice(*span)]
            continue
        name = bool(reading.names[number] >= NAME)
        word = _spelt(text[slice(*core)], variants, misspelt=bool(reading.misspelt[number] >= MISSPELT), name=name)
        if begins and word.lower() in _SUBJECTLESS and not _asks_from(place, marks, behind):
            word = f"I {word.lower()}"
        word = word[:1].upper() + word[1:] if begins or name else word
        ending = behind[place].rstrip(",") if marks[place] else behind[place]
        yield text[span[0] : core[0]] + word + ending + marks[place]
        begins = bool(marks[place]) or _MARKS.search(behind[place]) is not None


def _parts(
    text: str,
    cores: Sequence[CharacterSpan | None],
    ends: NDArray[np.float32] | None,
    reading: WordReading,
    following: Sequence[int | None],
) -> bool:
    """True if a sentence may end before the last of some words, which begin with its first.

    Where the network is not sure, neither side may be a mere part: "on the 18th of April", "called Biscuit".
    """
    words = [text[slice(*core)].lower() for core in cores if core is not None]
    if ends is None or words[-1] in _TRAILING or (len(words) > 1 and words[-2] in _OPEN):
        return False
    if _leads_on(words[:-1]):
        return False
    if 1.0 - float(ends[0]) >= SURE_END:
        return True
    named = bool(following) and following[0] is not None and bool(reading.names[following[0]] >= NAME)
    begins = words[-1].replace("'", "") in _STARTS or _SHORTENED.fullmatch(words[-1]) is not None
    return words[0] not in _LEADING and (named or begins)


def _leads_on(words: Sequence[str]) -> bool:
    """True if some words end with the day of what comes next: "and on friday"."""
    joined = max((place for place, word in enumerate(words) if word in _JOINING), default=len(words))
    rest = words[joined + 1 :]
    return bool(rest) and all(word in TIME_WORDS or word in STOP_WORDS for word in rest) and rest[-1] in TIME_WORDS


def _asks_from(place: int, marks: Sequence[str], behind: Sequence[str]) -> bool:
    """True if the sentence that begins with a word asks something."""
    for mark, rest in zip(marks[place:], behind[place:], strict=True):
        if mark or _MARKS.search(rest):
            return "?" in (mark or rest)
    return False


def is_tidy(text: str) -> bool:
    """True of a text that is written properly as far as its marks tell.

    Examples
    --------
    >>> is_tidy("I live in Oslo. Is that far?"), is_tidy("i live in oslo")
    (True, False)
    """
    return _CASED.fullmatch(text.strip()) is not None and " i " not in text


def core_span(text: str, start: int, end: int) -> CharacterSpan | None:
    """The place of a word without the marks around it; None where there are only marks.

    Examples
    --------
    >>> core_span("(hi,", 0, 4), core_span("--", 0, 2)
    ((1, 3), None)
    """
    found = _CORE.search(text, start, end)
    return None if found is None else found.span()


def _mark(behind: str, ends: NDArray[np.float32], last: bool) -> str:
    """The mark to be put behind a word."""
    if _MARKS.search(behind) is not None:
        return ""
    if 1.0 - float(ends[0]) < (SPLICED if behind.startswith(",") else END) and not last:
        return ""
    asks = float(ends[2]) >= (ASKS if last else float(ends[1]))
    return "?" if asks else "" if last else "."


def _spelt(word: str, variants: Mapping[str, str], *, misspelt: bool, name: bool) -> str:
    """A word as it is spelt."""
    if word == "i":
        return "I"
    if not misspelt or (word.isupper() and len(word) > 1) or _PLAIN.fullmatch(word) is None:
        return word
    low = word.lower().replace("’", "'")
    if low in variants:
        return variants[low]
    if (joined := _SHORTENED.fullmatch(low)) is not None:
        place = joined.start(joined.lastindex or 0)
        return f"{word[:place]}'{word[place:]}"
    if low.endswith("s") and "'" not in low and (name or _zipf(low[:-1]) >= COMMON):
        return f"{word[:-1]}'s"
    return word if name else nearest_word(low)


def _zipf(word: str) -> float:
    """How common an English word is, in powers of ten per thousand million words."""
    # wordfreq takes a tenth of a second to import, which a command that reads no message should not wait for.
    from wordfreq import zipf_frequency

    return float(zipf_frequency(word, "en"))


@cache
def _common() -> tuple[list[str], dict[str, float]]:
    from wordfreq import get_frequency_dict

    found = {
        word: 9 + float(np.log10(share))
        for word, share in get_frequency_dict("en", wordlist="small").items()
        if word.isascii() and word.isalpha() and len(word) > 2 and 9 + np.log10(share) >= COMMON
    }
    return list(found), found


def nearest_word(word: str) -> str:
    """The common English word that a misspelt one stands for; the same where none clearly is the nearest.

    Examples
    --------
    >>> nearest_word("favrite"), nearest_word("becuase"), nearest_word("xyzzy")
    ('favorite', 'because', 'xyzzy')
    """
    if len(word) < 4 or _zipf(word) >= KNOWN:
        return word
    words, frequencies = _common()
    most = 1 if len(word) < LONG else 2
    near = process.extract(word, words, scorer=OSA.distance, score_cutoff=most, limit=40)
    rated = sorted(((frequencies[each] - 1.5 * distance - (each[0] != word[0]), each) for each, distance, _ in near))
    if not rated or (len(rated) > 1 and rated[-1][0] - rated[-2][0] < CLEARLY):
        return word
    return rated[-1][1]
