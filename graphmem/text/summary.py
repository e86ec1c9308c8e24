"""Extractive summaries: the sentences that cover what some memories say, as a tutor could say them (spec 13)."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import pairwise

from graphmem.model import ANYONE, SHOWN_AT_WORK, Digest, Memory, MergedStatement
from graphmem.text.dating import spelled
from graphmem.text.doc import Doc
from graphmem.text.information import information
from graphmem.text.likeness import gist, is_said_by
from graphmem.text.operations import IN_TOPIC, IN_TOPICS, work_and_topic
from graphmem.text.sayable import (
    is_doubtful,
    plainly,
    quotable,
    reckons_from_then,
    sayable,
)
from graphmem.text.statement_judge import load_statement_judge
from graphmem.text.stems import is_past, stem
from graphmem.text.words import word_rarity

DIGEST_CHARACTERS = 400
"""Most characters of a summary."""
MOST_SENTENCES = 3
"""Most sentences of a summary: more are a pile."""
LEAST_WORTH = 0.5
"""Share of what the first sentence tells, for its length, that a further one tells at least."""
WORTH_SAYING = 0.6
"""Chance that a sentence is worth a place in memory as it stands (`StatementJudge`), at least."""
POINTING = 0.07
"""Chance that it points at what it does not name, at most."""
STANDS = 0.75
"""Chance that a sentence can be read by itself from which more of it counts no more."""
WHOLE_STANDS = 0.5
"""The same of a sentence that rules find to name all that it points at, at least."""
NOT_WHOLE = 0.5
"""What a sentence counts that rules find to point at something."""
TRIVIAL_TELLS = 3.0
"""What the rare words of a sentence count, in all that is said of no interest."""
ADDED_SHARE = 0.45
"""Share of what a sentence tells that no other tells, at least."""
SHORT = 80
"""Characters from which on the length of a sentence counts against it."""
WORK = 10.0
"""What a thing that was understood or misunderstood tells: one as much as another, so that the shortest are said."""
STATES = frozenset({"was", "had", "felt", "could", "would", "used", "loved", "liked"})
"""Past verbs that tell how something was, not what happened."""
STEP_WORDS_SAID = 16
"""Most words of a step of a solution that says something generally."""
MOST_TOPICS = 4
"""Most exercises that are named for one thing, the last ones."""
JOINED_CHARACTERS = 160
"""Most characters of two sentences that are said as one."""
_VERDICTS = (", which ", " goes wrong with ", " right", " where one has to ", " makes a slip ")
_HAS_PARTS = re.compile(r"[,!?:\"“]|\. | (?:and|says that|[-–—]) ")


@dataclass(frozen=True)
class Summarised:
    """What a summary is made of: a statement, and the words it comes from where it is not those words.

    shows_work : it says what was understood or misunderstood; the shorter, the more generally
    day : on which it was said, where that is known
    """

    statement: str
    words: str | None = None
    shows_work: bool = False
    day: date | None = None

    @classmethod
    def of(cls, remembered: Memory | MergedStatement) -> "Summarised":
        """What a memory, or a statement that a summary holds, is for a summary."""
        shows_work = remembered.aspect in SHOWN_AT_WORK
        at = remembered.at if isinstance(remembered, MergedStatement) else remembered.timestamp
        return cls(remembered.content or "", remembered.quote, shows_work, at.date())


@dataclass(frozen=True)
class _Part:
    """A sentence, with the one after it that leans on it, of the statements of some places."""

    places: tuple[int, ...]
    order: int
    text: str
    tells: dict[str, float] = field(repr=False, hash=False)

    sentences: int = 1
    shows_work: bool = False

    @property
    def worth(self) -> float:
        """What it tells, for its length."""
        return _worth(self.tells, self.text)


def summarised(told: Sequence[Summarised], subject: str) -> Digest:
    """A summary of what somebody told, in sentences of it and in their order; nothing is added.

    Parameters
    ----------
    told : 1 or more, oldest first
    subject : whom the statements speak of

    Returns
    -------
    Digest of at most `DIGEST_CHARACTERS`, or of one sentence. Taken are at most `MOST_SENTENCES` that stand by
    themselves: they have a subject and a verb, address nobody and refer to nothing that is left out; and that are
    worth a place in memory. Where there is none, the best of all sentences, or the words themselves are quoted

    Notes
    -----
    Greedy cover (Nemhauser, Wolsey and Fisher, 1978): again and again the sentence that adds most rare words and
    numbers for its length, until little is added or there is no room.

    Examples
    --------
    >>> said = ("Mia has a rabbit called Rex.", "Mia feeds Rex carrots.", "Mia has a rabbit.")
    >>> digest = summarised([Summarised(each) for each in said], "Mia")
    >>> digest.text, digest.says
    ('Mia has a rabbit called Rex and feeds Rex carrots.', (0, 1))
    >>> summarised([Summarised("Bo says: love that colour!", "Love that colour! Is it new?")], "Bo").text
    'Bo said: “Love that colour!”'
    """
    parts = [part for place, each in enumerate(told) for part in _parts(place, each, subject)]
    chosen = sorted(_covering(_without_copies(_together(parts)), subject), key=lambda part: (part.places, part.order))
    if chosen:
        days = [told[part.places[0]].day for part in chosen]
        return Digest(_sentences(_parted([part.text for part in chosen], days, subject), subject), _places(chosen))
    own = [(place, each) for place, each in enumerate(told) if not each.shows_work]
    quotes = [((place,), *quote) for place, each in own for quote in _quotes(each, subject)]
    if fit := [*((part.places, _ended(part.text), not is_doubtful(part.text)) for part in parts), *quotes]:
        places, text, _ = max(fit, key=lambda one: _fitness(one[1], one[2], subject))
        return Digest(text, places)
    # No sentence of it stands by itself: the statement that tells most, of steps the most general, as it is.
    place = max(range(len(told)), key=lambda i: information(told[i].statement))
    if not own:
        place = min(range(len(told)), key=lambda i: len(told[i].statement))
    plain = plainly(told[place].statement).strip() or told[place].statement.strip()
    return Digest(_ended(plain[:DIGEST_CHARACTERS]), (place,))


def _worth_saying(sentence: str, subject: str) -> float:
    """The chance that a sentence is worth a place in memory; 0 where it is not, or may not be understood alone."""
    if is_doubtful(sentence):
        return 0.0
    good, _, pointing, _ = map(float, load_statement_judge().chances(sentence, subject))
    return good if good >= WORTH_SAYING and pointing <= POINTING else 0.0


def _fitness(text: str, whole: bool, subject: str) -> float:
    """How fit a sentence is to be said where none is worth it: first that it can be read alone, then what it tells."""
    good, trivial, *_ = map(float, load_statement_judge().chances(text, subject))
    told = good + TRIVIAL_TELLS * trivial * _worth(_told(text, subject), text)
    standing = min(good + trivial, STANDS)
    return max(standing, WHOLE_STANDS) + told if whole else NOT_WHOLE * (standing + told)


def _quotes(told: Summarised, subject: str) -> Iterator[tuple[str, bool]]:
    """What somebody's own words can be quoted as, with the day where they reckon from it; and whether it is whole."""
    for quote, whole in quotable(told.words or ""):
        when = f" on {spelled(told.day)}" if told.day and reckons_from_then(quote) else ""
        yield f"{subject} said{when}: “{quote}”", whole


def subject_of(memories: Sequence[Memory], student: str | None) -> str:
    """Whom the statements of some memories of one speaker speak of.

    Parameters
    ----------
    memories : 1 or more
    student : the student's name, where it is known
    """
    return memories[0].speaker or student or ANYONE


def summarised_memories(memories: Sequence[Memory], student: str | None) -> Digest:
    """A summary of some opened memories of one speaker, oldest first; see `summarised`."""
    return summarised([Summarised.of(memory) for memory in memories], subject_of(memories, student))


def _places(parts: Sequence[_Part]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(place for part in parts for place in part.places))


def _parts(place: int, told: Summarised, subject: str) -> Iterator[_Part]:
    """What of a statement can be said by itself: sentences, also with the one that leans on each."""
    for order, (head, more) in enumerate(sayable(told.statement, told.words, subject)):
        tells, text = _told(head, subject), head
        if told.shows_work and more:
            continue
        if more:
            added = _told(more, subject)
            if _worth(added, more) < ADDED_SHARE * _worth(tells, head):
                continue
            tells, text = tells | added, f"{_ended(head)} {more}"
        if told.shows_work and not _is_judged(head, subject):
            # It tells the exercise, not what was understood of it.
            continue
        yield _Part((place,), order, text, {head: WORK} if told.shows_work else tells, 1 + bool(more), told.shows_work)


def _is_judged(step: str, subject: str) -> bool:
    """True if a step of a solution is short, and told as right or wrong, so that it says something generally."""
    plain, topic = work_and_topic(step)
    judged = bool(topic) or any(verdict in plain for verdict in _VERDICTS)
    told = Doc(plain.removeprefix(subject))
    return judged and len(told.words) <= STEP_WORDS_SAID and "they" not in told.plain_words


def _together(parts: Sequence[_Part]) -> list[_Part]:
    """Parts; those that say the same of several exercises as one."""
    found: dict[str, list[_Part]] = {}
    for part in parts:
        found.setdefault(work_and_topic(part.text)[0] if part.shows_work else part.text, []).append(part)
    return [_of_several(head, own) if len(own) > 1 else own[0] for head, own in found.items()]


def _of_several(head: str, parts: Sequence[_Part]) -> _Part:
    """One thing that was so in several exercises."""
    topics = list(dict.fromkeys(work_and_topic(part.text)[1] for part in parts))
    *most, last = [topic for topic in topics if topic][-MOST_TOPICS:] or [""]
    text = f"{head}{IN_TOPICS}{', '.join(most)} and {last}" if most else f"{head}{IN_TOPIC}{last}" if last else head
    tells = {unit: weight * len(parts) for unit, weight in parts[0].tells.items()}
    return _Part(_places(parts), parts[0].order, text, tells, shows_work=True)


def _without_copies(parts: Sequence[_Part]) -> list[_Part]:
    """Parts but for those that another says and more; of equal ones the last stays."""
    gists = [gist(part.text) for part in parts]
    names = [frozenset(part.tells) for part in parts]

    def is_in(i: int, j: int) -> bool:
        return names[i] <= names[j] and is_said_by(gists[i], gists[j])

    def is_said_elsewhere(i: int) -> bool:
        others = (j for j in range(len(parts)) if parts[j].places != parts[i].places)
        return any(is_in(i, j) and (j > i or not is_in(j, i)) for j in others)

    return [part for i, part in enumerate(parts) if not is_said_elsewhere(i)]


def _covering(parts: Sequence[_Part], subject: str) -> list[_Part]:
    """Parts that tell most together and are worth saying, in the order in which they were chosen."""
    chances = {part: 1.0 if part.shows_work else _worth_saying(part.text, subject) for part in parts}
    parts = [part for part in parts if chances[part]]
    covered, chosen, room, least = set[str](), list[_Part](), DIGEST_CHARACTERS, 0.0
    while left := MOST_SENTENCES - sum(part.sentences for part in chosen):
        free = [p for p in parts if p.sentences <= left and not any(_overlap(p, c) for c in chosen)]
        free = [p for p in free if not chosen or len(p.text) + 2 <= room]
        gains = {p: _worth({unit: w for unit, w in p.tells.items() if unit not in covered}, p.text) for p in free}
        fit = [p for p in free if p.worth >= least and gains[p] >= ADDED_SHARE * p.worth and gains[p] > 0]
        if not fit:
            break
        best = max(fit, key=lambda p: chances[p] * gains[p])
        parts.remove(best)
        chosen.append(best)
        covered |= best.tells.keys()
        room -= len(best.text) + 2
        least = least or LEAST_WORTH * best.worth
    return chosen


def _worth(tells: Mapping[str, float], text: str) -> float:
    """What a sentence tells, for its length."""
    return sum(tells.values()) / (SHORT + len(text))


def _overlap(one: _Part, other: _Part) -> bool:
    """True if one part holds the other."""
    return one.places == other.places and (one.text in other.text or other.text in one.text)


def _told(text: str, subject: str) -> dict[str, float]:
    """Stems and numbers of a sentence with their rarity, but for the subject's."""
    doc = Doc(text)
    numbers = {str(number): 4.0 for number in doc.numbers}
    rarities = {stem(word): word_rarity(word) for word in doc.plain_words}
    told = {each: min(5.0, rarities.get(each, 1.0)) for each in doc.stems} | numbers
    return {each: weight for each, weight in told.items() if each not in subject.casefold()}


def _sentences(chosen: Sequence[str], subject: str) -> str:
    """Sentences; two in a row that begin with the subject as one, where that is short."""
    parts: list[str] = []
    for each in (each.rstrip(".") for each in chosen):
        before = parts[-1] if parts else ""
        if before and _joins(before, each, subject):
            parts[-1] = f"{before} and {each.removeprefix(f'{subject} ')}"
        else:
            parts.append(each)
    return " ".join(map(_ended, parts))


def _parted(chosen: Sequence[str], days: Sequence[date | None], subject: str) -> list[str]:
    """Sentences; one of what happened on another day than what stands before it begins with "Another time"."""
    parted = list(chosen[:1])
    for (before, was), (text, day) in pairwise(zip(chosen, days, strict=True)):
        another = was != day and _happened(before, subject) and _happened(text, subject)
        apart = another and not Doc(text).time_words and not _matters(before, subject) & _matters(text, subject)
        parted.append(f"Another time {text}" if apart and text.startswith(f"{subject} ") else text)
    return parted


def _happened(sentence: str, subject: str) -> bool:
    """True if the subject did something once: "Mia swam", "In June Mia swam"."""
    word = next(iter(Doc(sentence.partition(f"{subject} ")[2]).plain_words), "")
    return is_past(word) and word not in STATES


def _matters(sentence: str, subject: str) -> frozenset[str]:
    return Doc(sentence).stems - Doc(subject).stems


def _joins(one: str, other: str, subject: str) -> bool:
    """True if two sentences on one matter can be said as one: neither has parts, nor reports."""
    own = all(each.startswith(f"{subject} ") and not _HAS_PARTS.search(each) for each in (one, other))
    shared = Doc(one).stems & Doc(other).stems - Doc(subject).stems
    return own and bool(shared) and len(one) + len(other) <= JOINED_CHARACTERS


def _ended(sentence: str) -> str:
    return sentence if sentence.endswith((".", "!", "?", "…", "”", '."', '!"')) else f"{sentence}."
