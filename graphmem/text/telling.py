"""How much a message tells by its words alone: how rare they are, names, numbers and times (spec 6, 10).

The reader judges what is worth remembering of a student; what friends tell each other it rates low. What somebody
chose to have remembered is rated by this as well, so that it is found again.
"""

import math

from graphmem.text.doc import Doc
from graphmem.text.lexicon import FIRST_PERSON, STOP_WORDS
from graphmem.text.words import is_number, word_rarity

MOST_RARITY = 4.5
"""Most that a word counts: beyond the 30,000 commonest it is as often misspelt as rare."""
TELLS_NOTHING = 1.5
"""Rarity that tells nothing: of the few hundred commonest words."""
NUMBER, NAME, TIME, OWN = 1.5, 3.0, 6.0, 3.0
"""What a number, a name, a time and telling of oneself count."""
QUESTION = 0.6
"""Share that a question counts: its words are asked for, not said."""
MUCH = 40.0
"""Sum at which a message tells 63 % of what one could."""


def telling(doc: Doc) -> float:
    """How much a message tells by its words, from 0 (nothing) to 1.

    Examples
    --------
    >>> told = telling(Doc("Caroline adopted a guinea pig named Oscar last May."))
    >>> told > telling(Doc("That sounds really great, thank you!")), telling(Doc("ok"))
    (True, 0.0)
    """
    read = doc.excerpt
    words = {word for word in read.plain_words if word not in STOP_WORDS and len(word) > 1}
    rare = (min(MOST_RARITY, word_rarity(word)) - TELLS_NOTHING for word in words if not is_number(word))
    told = sum(max(0.0, each) for each in rare)
    told += NUMBER * len(read.numbers) + NAME * len(read.entities) + TIME * bool(read.time_words)
    if told and not FIRST_PERSON.isdisjoint(read.plain_words):
        told += OWN
    return 1 - math.exp(-(QUESTION if read.asks else 1.0) * told / MUCH)
