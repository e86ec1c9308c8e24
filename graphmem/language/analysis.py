"""What one run of the encoder tells of a message: its vector, its statements with their scores, its names (spec 7)."""

from dataclasses import dataclass

import numpy as np

from graphmem.language.heads import MESSAGE, HeadScores
from graphmem.model import Domain, Entity, EntityKind, MemoryKind, Vector

BANDS = MESSAGE.heads["band"].labels
"""How much a message tells that is worth remembering, named by the passes it is read with."""
PASSES = (100, 400, 800)
"""Scores from which a message is read once, twice and three times."""
SNR_BANDS = (0, *PASSES, 1000)
"""Scores at which the bands begin, and the highest."""
LASTING = ("months", "good")
"""How long something holds that is told of oneself in general."""
OWN_BELOW = 0.5
"""Chance that a message tells nothing, below which it is a matter of its speaker's own."""
SURE_NAME = 0.5
"""Chance from which a name is one."""
AT_WORK, WORK_AT_TASK = 0.5, 0.2
"""Chance from which a statement or a turn is work: by itself, and while there is a task."""
STEP_WORDS = 4
"""Words of a turn of work that says more than a bare step."""
_ENTITY_KINDS = {"pet": EntityKind.THING, "school": EntityKind.PLACE}


@dataclass(frozen=True, eq=False)
class StatementSpan:
    """A statement of a message: a verbatim span, and what it tells.

    start, end : of the span in the message, characters
    scores : of the span's own tokens, in the same run
    snr : int in 0..1000, how much worth remembering it tells: 100, 400 and 800 begin the bands (spec 7)
    """

    start: int
    end: int
    scores: HeadScores
    snr: int


@dataclass(frozen=True)
class NameSpan:
    """A name in a message: its span, its likeliest kind (`NAMES`), the chance that it is a name."""

    start: int
    end: int
    kind: str
    chance: float


@dataclass(frozen=True, eq=False)
class MessageAnalysis:
    """What one run tells of a message.

    vector : shape (384,), the embedding by the shipped model
    seen, opening : shape (3 * 384,), what the heads look at of the whole message, and of its first sentence
    scores, snr : of the whole message
    """

    text: str
    vector: Vector
    seen: Vector
    opening: Vector
    scores: HeadScores
    snr: int
    statements: tuple[StatementSpan, ...]
    names: tuple[NameSpan, ...]

    @property
    def passes(self) -> int:
        """Number of passes that formation reads the message with, 0 to 3 (spec 7)."""
        return passes(self.snr)

    def scores_at(self, start: int, end: int) -> HeadScores:
        """Return the scores of the statement that most of a span stands in; of the message where none is there."""
        common = [(min(end, each.end) - max(start, each.start), each.scores) for each in self.statements]
        most, scores = max(common, key=lambda each: each[0], default=(0, self.scores))
        return scores if most > 0 else self.scores


def entities_of(analysis: MessageAnalysis) -> tuple[Entity, ...]:
    """Return whom and what a message names, each once, in order: people, places and things.

    Examples
    --------
    >>> from graphmem.language.encoder import read_now
    >>> (found,) = read_now(["My dog Bello and Omar flew to New York."])
    >>> [(each.name, each.kind.value) for each in entities_of(found)]
    [('Bello', 'thing'), ('Omar', 'person'), ('New York', 'place')]
    """
    sure = [each for each in analysis.names if each.chance >= SURE_NAME and each.start < each.end]
    named = [(analysis.text[each.start : each.end], each.kind) for each in sure]
    kinds = {name.casefold(): Entity(name, _ENTITY_KINDS.get(kind) or EntityKind(kind)) for name, kind in named[::-1]}
    return tuple(kinds[key] for key in dict.fromkeys(name.casefold() for name, _ in named))


def passes(snr: int) -> int:
    """Number of extraction passes over a message: 0 below 100, then 1, from 400 twice, from 800 three times.

    Examples
    --------
    >>> [passes(score) for score in (99, 100, 400, 800)]
    [0, 1, 2, 3]

    Source: spec 7.
    """
    return sum(snr >= least for least in PASSES)


def generality(scores: HeadScores) -> float:
    """Return the chance that a statement tells something of the student's own that holds for months, in [0, 1]."""
    months = sum(scores.chance("lasting", label) for label in LASTING)
    return months * scores.chance("kind", MemoryKind.TRAIT) * scores.chance("about_self")


def domain_of(scores: HeadScores) -> Domain:
    """Return the part of a student's life that a text most likely belongs to."""
    return Domain(scores.likely("domain"))


def is_own_matter(scores: HeadScores) -> bool:
    """True if a message is work on a subject, or tells something of its speaker: others only react to what they heard.

    Examples
    --------
    >>> from graphmem.language.encoder import read_now
    >>> texts = ["My telescope is broken.", "9 - 4 = 5, so she has 5 left.", "Wow, that sounds amazing! Where was it?"]
    >>> [is_own_matter(each.scores) for each in read_now(texts)]
    [True, True, False]
    """
    return scores.likely("kind") == MemoryKind.CONCEPT or scores.chance("worth", "nothing") < OWN_BELOW


def danger_odds(scores: HeadScores) -> float:
    """Log odds that a text tells of danger: the mean of the heads that ask for its kind and its urgency (spec 20).

    Examples
    --------
    >>> from graphmem.language.encoder import read_now
    >>> danger, calm = read_now(["my stepdad hits me with a belt", "We fed the ducks."])
    >>> danger_odds(danger.scores) > 2 > danger_odds(calm.scores)
    True
    """
    logits = [scores.logits[MESSAGE.places[head]] for head in ("concern", "urgency")]
    return float(np.mean([np.logaddexp.reduce(own[1:]) - own[0] for own in logits]))


def work_chance(scores: HeadScores) -> float:
    """Chance that a message is work on a subject of school, in [0, 1].

    Examples
    --------
    >>> from graphmem.language.encoder import read_now
    >>> work, life = read_now(["9 - 4 = 5, so she has 5 apples left.", "My brother and I hike every Sunday."])
    >>> work_chance(work.scores) > 0.8, work_chance(life.scores) < 0.1
    (True, True)
    """
    return scores.chance("kind", MemoryKind.CONCEPT) * scores.chance("domain", Domain.SCHOOL)


def explains_work(analysis: MessageAnalysis, *, has_task: bool) -> bool:
    """True if a message is work, and more than a bare step: it may show how its student thinks.

    Examples
    --------
    >>> from graphmem.language.encoder import read_now
    >>> [explains_work(each, has_task=True) for each in read_now(["3/7", "I add the tops, so it is 3/7"])]
    [False, True]
    """
    words = sum(any(map(str.isalnum, word)) for word in analysis.text.split())
    return words >= STEP_WORDS and work_chance(analysis.scores) >= (WORK_AT_TASK if has_task else AT_WORK)
