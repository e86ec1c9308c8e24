"""Titles: what a message is about, in a few of its own words (spec 5)."""

import re
from collections.abc import Iterator, Sequence

from graphmem.text.dialogue_acts import Act, act_of
from graphmem.text.doc import Doc
from graphmem.text.lexicon import GREETINGS, INTERJECTIONS, LESSON_WORDS
from graphmem.text.retelling import without_asides
from graphmem.text.sanitize import clean, clipped
from graphmem.text.statement_judge import load_statement_judge
from graphmem.text.stems import is_past, stem
from graphmem.text.words import word_rarity

TITLE_TOPICS = 2
"""Most topics of a title."""
TITLE_WORDS = 3
"""Words of the longest topic."""
TITLE_CHARACTERS = 120
"""Longest title."""
SMALL_TALK_WORDS = 4
"""Words of the longest message that may be small talk and nothing else."""
TOPIC_RARITY = 3.0
"""Rarity of the rarest word of a topic, at least; what is more common says little."""
_DRAWN_OUT = re.compile(r"(.)\1\1")
SMALL_TALK_ACTS = frozenset({Act.GREETING, Act.THANKS, Act.GOODBYE, Act.AGREEMENT, Act.UNREADABLE})
"""Acts that begin no matter."""


def title(said: Doc, *around: str) -> str:
    """What a message is about: its most telling topics, those first that stand around it, too.

    Parameters
    ----------
    said : Doc, the message
    around : what it answers and the task, as far as they are known

    Returns
    -------
    str such as `Decimals` or `Hamburg, moving`; empty where the message says nothing of any matter

    Examples
    --------
    >>> title(Doc("We have been researching adoption agencies, to give kids a loving home"))
    'Researching adoption agencies, loving home'
    >>> title(Doc("ok thanks")), title(Doc("So it is 18 hotdogs"), "How many hotdogs were there?")
    ('', 'Hotdogs')
    """
    if len(said.plain_words) <= SMALL_TALK_WORDS and act_of(said) in SMALL_TALK_ACTS:
        return ""
    near = frozenset[str]().union(*(Doc(text).stems for text in around))
    topics = list(_topics(said))
    # A name alone is mostly whom it is said to.
    topics.sort(key=lambda topic: (topic.istitle(), near.isdisjoint(map(stem, topic.lower().split()))))
    chosen: list[str] = []
    for topic in topics:
        words = set(map(stem, topic.lower().split()))
        if all(words.isdisjoint(map(stem, other.lower().split())) for other in chosen):
            chosen.append(topic)
    greets = not GREETINGS.isdisjoint(said.plain_words[:1])
    if greets and all(topic.istitle() and " " not in topic for topic in chosen):
        return ""
    told = ", ".join(chosen[:TITLE_TOPICS])
    return told[:1].upper() + told[1:]


def most_telling(statements: Sequence[str], subject: str) -> str:
    """The sentence of statements about somebody that is most worth a place in memory; empty where there is none.

    Parameters
    ----------
    statements : in the third person
    subject : how they name whom they speak of

    Examples
    --------
    >>> most_telling(["Mia bought one of these for them.", "Mia has a brother called Ole. He plays chess."], "Mia")
    'Mia has a brother called Ole.'
    """
    judge = load_statement_judge()
    sentences = [Doc(each).sentences[0].text for each in statements if Doc(each).sentences]
    return clipped(max(sentences, key=lambda each: judge.worth(each, subject), default=""), TITLE_CHARACTERS)


def _topics(said: Doc) -> Iterator[str]:
    """Phrases of a message that name something, most telling first."""
    plain = Doc(" ".join(without_asides(sentence.text) for sentence in said.shown.sentences))
    for phrase in plain.key_phrases(12):
        words = [word for word in clean(phrase).split() if _names(word)][-TITLE_WORDS:]
        if words and max(map(word_rarity, words)) >= TOPIC_RARITY:
            yield " ".join(words)


def _names(word: str) -> bool:
    """True of a word that can be part of a name of something: no number, no interjection, nothing of the lesson."""
    plain = word.lower()
    return plain.isalpha() and not (_DRAWN_OUT.search(plain) or is_past(plain) or plain in LESSON_WORDS | INTERJECTIONS)
