"""Whether two words are forms of one word: inflected alike, not merely derived from each other."""

from functools import lru_cache

from graphmem.text.stems import regular
from graphmem.text.words import is_known

_VOWELS = frozenset("aeiouy")
_SIBILANTS = ("sses", "shes", "ches", "xes", "zes")
_NOT_PLURAL = ("ss", "us", "is")
_LATIN_PLURALS = (("ix", "ices"), ("ex", "ices"), ("us", "i"), ("um", "a"), ("on", "a"), ("is", "es"), ("a", "ae"))
_LATIN_LETTERS = 6
"""Letters of the shortest word that is given a plural as in Latin or Greek, but for those in -is."""
_ENDINGS = ("ern", "en", "em", "er", "es", "os", "as", "is", "se", "us", "e", "n", "s", "a", "o")
"""Endings of nouns and adjectives in German and Spanish, longest first."""
_LEAST_BASE = 4
"""Letters that are left of a word of another language without its ending."""


def uninflected(word: str) -> str:
    """An English word in lower case without the endings of plural, past and progressive; no word by itself.

    Unlike a stem it keeps what makes another word of it: `power` and `powerful` differ.

    Source: Porter 1980, An algorithm for suffix stripping, its steps 1a to 1c.

    Examples
    --------
    >>> uninflected("divided") == uninflected("dividing") == uninflected("divide")
    True
    >>> uninflected("numerals") == uninflected("numerator"), uninflected("halves") == uninflected("half")
    (False, True)
    """
    word = regular(word)
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith(_SIBILANTS):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(_NOT_PLURAL):
        word = word[:-1]
    for ending in ("ed", "ing"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= 3 and _VOWELS & set(rest):
            word = rest
            break
    word = word.removesuffix("e")
    # "add" and "adding", "control" and "controlled": a doubled letter counts once.
    word = word[:-1] if word[-2:-1] == word[-1:] and len(word) > 2 else word
    return word[:-1] + "i" if word.endswith("y") else word


def base(word: str) -> str:
    """A folded word of German or Spanish without its ending of number, case or gender; no word by itself.

    Examples
    --------
    >>> base("primzahlen") == base("primzahl"), base("raices") == base("raiz"), base("negativen") == base("negative")
    (True, True, True)
    """
    ending = next((e for e in _ENDINGS if word.endswith(e) and len(word) - len(e) >= _LEAST_BASE), "")
    word = word.removesuffix(ending)
    return word[:-1] + "c" if word.endswith("z") else word


def latin_plural(word: str) -> str | None:
    """The plural of a word in lower case by the rules of Latin and Greek; None where none of them fits.

    Examples
    --------
    >>> latin_plural("matrix"), latin_plural("vertex"), latin_plural("radius"), latin_plural("angle")
    ('matrices', 'vertices', 'radii', None)
    """
    for singular, plural in _LATIN_PLURALS:
        if word.endswith(singular) and (len(word) >= _LATIN_LETTERS or singular == "is"):
            return word.removesuffix(singular) + plural
    return None


@lru_cache(maxsize=20_000)
def is_form_of(word: str, name: str) -> bool:
    """True if a word is a name or an inflected form of it, both folded.

    Examples
    --------
    >>> is_form_of("fractions", "fraction"), is_form_of("matrices", "matrix"), is_form_of("primzahlen", "primzahl")
    (True, True, True)
    >>> is_form_of("powerful", "power"), is_form_of("numerator", "numeral"), is_form_of("optimism", "optimization")
    (False, False, False)
    """
    if word == name or uninflected(word) == uninflected(name) or word == latin_plural(name):
        return True
    return base(word) == base(name) and not is_known(word)
