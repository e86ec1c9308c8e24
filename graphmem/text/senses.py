"""Whether a common word means a concept of its name in a sentence: a logistic regression on four likenesses.

Made by `scripts/train/sense.py`; the figures lie beside the weights in `figures.json`. Any embedding model will do,
though the weights were fitted to vectors of the shipped one.
"""

import json
import math
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from graphmem.errors import SetupError
from graphmem.model import Concept, Vector

SENSE_FILE = Path(__file__).with_name("weights") / "sense" / "sense.json"


@dataclass(frozen=True)
class Sense:
    """What a word means as the name of a concept.

    meaning : embedding of the concept, its names included
    word : embedding of the word alone
    plainness : cosine of the word with the concept's description; high where the concept is what the word means anyway
    rarity : of the word, 0 to 7 (`graphmem.text.words.word_rarity`)
    is_action : the concept is something one does, such as division, so that the word may be meant as a verb
    """

    meaning: Vector = field(repr=False)
    word: Vector = field(repr=False)
    plainness: float
    rarity: float
    is_action: bool = True

    def features(self, sentence: Vector) -> tuple[float, float, float, float]:
        """What the decision rests on, given the embedding of a sentence that holds the word."""
        return float(self.meaning @ sentence), self.plainness, float(self.word @ sentence), self.rarity

    def excludes(self, is_verb: bool) -> bool:
        """True if the concept cannot be meant, as the word is used as a verb and the concept is nothing one does."""
        return is_verb and not self.is_action

    def chance(self, sentence: Vector) -> float:
        """Chance, 0 to 1, that the concept is meant in a sentence that holds the word.

        Examples
        --------
        >>> import numpy as np
        >>> one, other = np.eye(2, dtype=np.float32)
        >>> sense = Sense(meaning=one, word=one, plainness=0.3, rarity=2.5)
        >>> sense.chance(one) > sense.chance(other)
        True
        """
        weights, bias = _weights()
        score = sum(w * x for w, x in zip(weights, self.features(sentence), strict=True)) + bias
        return 1.0 / (1.0 + math.exp(-score))


def sense_texts(concept: Concept, name: str) -> tuple[str, str, str]:
    """What is embedded for a sense: the concept, its description, the word.

    Examples
    --------
    >>> sense_texts(Concept("m", "mean", ("average",), "A sum divided by a count."), "average")
    ('mean (average): A sum divided by a count.', 'A sum divided by a count.', 'average')
    """
    what = concept.description or concept.domain or concept.name
    also = f" ({', '.join(concept.aliases)})" if concept.aliases else ""
    return f"{concept.name}{also}: {what}", what, name


def is_action(concept: Concept) -> bool:
    """True if a concept's name is that of something one does.

    Examples
    --------
    >>> is_action(Concept("d", "division")), is_action(Concept("r", "rounding")), is_action(Concept("m", "mean"))
    (True, True, False)
    """
    return concept.name.casefold().endswith(("ing", "ion", "ment"))


@lru_cache(maxsize=1)
def _weights(path: Path = SENSE_FILE) -> tuple[tuple[float, ...], float]:
    try:
        made = json.loads(path.read_text("utf-8"))
        return tuple(map(float, made["weights"])), float(made["bias"])
    except (OSError, ValueError, KeyError) as error:
        raise SetupError(f"The weights in {path} cannot be loaded ({error}): install graphmem again.") from error
