"""Information of a text: the chance that it is what somebody asks about later, by what it holds (spec 6)."""

import math
import re

from graphmem.text.doc import Doc
from graphmem.text.lexicon import STOP_WORDS
from graphmem.text.words import word_rarity

RARE_FROM, RAREST = 1.5, 5.0
"""Rarities (`word_rarity`) between which a word counts the more, the rarer it is."""
COUNTED_LETTERS = 3
"""Letters of the shortest word that counts."""
MOST_NAMES, MOST_NUMBERS = 3, 2
"""Names and numbers from which on more of them add nothing."""
_FIRST_PERSON = re.compile(r"\b(?:i|i'm|i've|i'll|my|me|we|our|us)\b", re.IGNORECASE)
_BRACKETED = re.compile(r"\s*\[[^\]]*(?:\]|$)")


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
