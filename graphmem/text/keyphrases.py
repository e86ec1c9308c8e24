"""Key phrases: the rarest runs of content words of a text."""

import math
import re
from collections.abc import Iterable, Sequence

from graphmem.text.lexicon import STOP_WORDS
from graphmem.text.words import Token, is_dense, is_number, word_rarity

PHRASE_WORDS = 4
"""Most words of a key phrase."""
PHRASE_CHARACTERS = 60
"""Longest key phrase; a longer one is cut."""

_APOSTROPHE = re.compile("['’]")
_GAP = re.compile(r"[ \t]*")


def ranked_phrases(text: str, tokens: Iterable[Token]) -> tuple[str, ...]:
    """The phrases of a text, those that say most about it first; `Doc.key_phrases` gives the best of them.

    Parameters
    ----------
    text : str, in any language
    tokens : its tokens

    Returns
    -------
    tuple of str, none empty, none twice (whatever the case), each of 1 to 4 words and at most 60 characters;
    empty only where the text has no letter or digit, or nothing but function words

    Notes
    -----
    A phrase is a maximal run of content words between function words and punctuation, cut into pieces of at most
    four words; it is worth the sum of its words' rarities over the square root of their number, so that two rare
    words beat one, and one rare word beats it with a common one beside it. Numbers stay with their unit.

    Source: spec 4 (needed info, tags); the runs are those of RAKE (Rose et al. 2010, Automatic keyword extraction
    from individual documents), the weights are word frequencies instead of degrees in the text.

    Examples
    --------
    >>> from graphmem.text.doc import Doc
    >>> Doc("I think Julia bought 12 spoons, and her husband gave her a package.").key_phrases(3)
    ('Julia bought 12 spoons', 'husband gave', 'package')
    >>> Doc("Я не понимаю дроби").key_phrases(), Doc("我不懂分数").key_phrases(), Doc("ok :-)").key_phrases()
    (('не понимаю дроби',), ('懂分数',), ())
    """
    best: dict[str, tuple[float, int, str]] = {}
    for order, run in enumerate(_runs(text, tokens)):
        words = " ".join(run)[:PHRASE_CHARACTERS].strip()
        score = sum(map(word_rarity, run)) / math.sqrt(len(run))
        known = best.get(words.casefold())
        if known is None or score > known[0]:
            best[words.casefold()] = (score, order if known is None else known[1], words)
    ranked = sorted(best.values(), key=lambda entry: (-entry[0], entry[1]))
    return tuple(words for _, _, words in ranked)


def rarest_word(words: Sequence[str]) -> str:
    """The rarest of some words, function words included; empty without a word.

    Examples
    --------
    >>> rarest_word(["it", "is", "not", "so"]), rarest_word([])
    ('so', '')
    """
    return max((word[:PHRASE_CHARACTERS] for word in words), key=word_rarity, default="")


def _runs(text: str, tokens: Iterable[Token]) -> list[list[str]]:
    """Content words in a row, at most four together."""
    runs: list[list[str]] = []
    previous = -1
    for token in tokens:
        word = _content(token.text)
        if word is None:
            continue
        if runs and len(runs[-1]) < PHRASE_WORDS and _GAP.fullmatch(text, previous, token.start):
            runs[-1].append(word)
        else:
            runs.append([word])
        previous = token.end
    return runs


def _content(token: str) -> str | None:
    """The token as a word of a phrase; None for a mark, a function word or a lone letter."""
    if is_number(token):
        return token
    if not token[0].isalnum() or (len(token) == 1 and not is_dense(token)):
        return None
    if _APOSTROPHE.split(token, maxsplit=1)[0].lower() in STOP_WORDS:
        return None
    return token[:-2] if token[-2:] in ("'s", "’s") else token
