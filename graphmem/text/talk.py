"""What a turn of ordinary talk does: tells, asks, reacts, takes leave; learned from written turns and real talk.

It is about how to answer, and judges nothing that is said. Made by `scripts/make_talk.py`; the figures stand beside the
weights.
"""

from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from zlib import crc32

import numpy as np

from graphmem.model import Vector
from graphmem.text.doc import Doc
from graphmem.text.reader import MessageReading
from graphmem.text.trained import LinearHead, opened_weights, read_head

TALK_FILE = Path(__file__).with_name("weights") / "talk" / "talk.npz"
TALK_SURE = 0.47
"""Chance from which on what is told is right nine times in ten in cross-validation; in small talk, from 0.65 on."""

TALK_WORDS = 40
"""Words of a turn that are looked at."""
WORD_PLACES = 2048
"""Places that words and pairs of words are hashed to."""
WORD_SCALE = 2.5
"""Length of the features of words beside what the reader tells; chosen by cross-validation."""


class TalkKind(StrEnum):
    """What a student's turn does.

    Attributes
    ----------
    OWN : tells of the student's own life, family, feelings, plans
    STORY : tells of others, of things or events
    OPINION : a view or claim about a subject or the world
    REACTION : only reacts to what was said: nothing to answer
    COMPANION : a question or remark about the companion itself
    ABILITY : what the companion can do or is for
    REQUEST : asks the companion to do something
    QUESTION : about a subject, a person or the world, also "tell me about ..."
    WORK : a step, an answer, reasoning on a task, being stuck on it
    GREETING, GOODBYE, THANKS : nothing else
    """

    OWN = "own"
    STORY = "story"
    OPINION = "opinion"
    REACTION = "reaction"
    COMPANION = "companion"
    ABILITY = "ability"
    REQUEST = "request"
    QUESTION = "question"
    WORK = "work"
    GREETING = "greeting"
    GOODBYE = "goodbye"
    THANKS = "thanks"


def talk_features(doc: Doc, reading: MessageReading) -> Vector:
    """What the reader makes of a turn, and its hashed words, pairs of words, beginning and end."""
    words = doc.plain_words[:TALK_WORDS]
    signs = [*words, *(f"{one} {other}" for one, other in pairwise(words)), *(f"^{each}" for each in words[:1])]
    signs += [*(f"{each}$" for each in words[-1:]), *("?" for _ in range("?" in doc.text))]
    counts = np.zeros(WORD_PLACES, dtype=np.float32)
    for sign in signs:
        counts[crc32(sign.encode("utf-8", "replace")) % WORD_PLACES] += 1
    length = float(np.linalg.norm(counts))
    return np.concatenate([reading.features, WORD_SCALE * counts / length if length else counts])


def talk_of(doc: Doc, reading: MessageReading) -> tuple[TalkKind, float]:
    """The likeliest kind of talk, and its chance.

    Examples
    --------
    >>> from graphmem.text.reader import read_now
    >>> texts = ["tell me a joke", "lol", "how are you", "my dog ran away"]
    >>> [talk_of(Doc(text), each)[0].value for text, each in zip(texts, read_now(texts))]
    ['request', 'reaction', 'companion', 'own']
    """
    head = load_talk()
    chances = head.chances(talk_features(doc, reading))
    likeliest = int(chances.argmax())
    return TalkKind(head.labels[likeliest]), float(chances[likeliest])


@lru_cache(maxsize=1)
def load_talk(path: Path = TALK_FILE) -> LinearHead:
    """Read the weights, once a process.

    Raises
    ------
    SetupError      the file is missing or damaged
    """
    with opened_weights(path) as file:
        return read_head(file, "talk")
