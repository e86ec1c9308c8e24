"""What a text is about: its rarest runs of content words."""

import math
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

PHRASE_WORDS = 4
"""Most words of a key phrase."""
READ_CHARACTERS = 4_000
"""How much of a long text is read: half from its beginning, half from its end."""
PHRASE_CHARACTERS = 60
"""Longest key phrase; a longer one is cut."""
UNKNOWN = 7.0
"""Rarity of a word outside the 30,000 most frequent ones."""
NUMBER = 2.5
"""Rarity of a number: worth keeping beside its unit, little on its own."""

# Common function words, and talk that says nothing about its subject. Short forms (don't, I'll) are cut at the
# apostrophe before they are looked up.
STOP_WORDS = frozenset(
    """
    a able about above actually after again ah aha all also although always am an and another any anyone anything
    are aren around as ask asked at away back be because been before being below best better between both but by
    call called came can cannot cant come comes coming could couldn did didn do does doesn doing don done dont down
    during each easy either else enough equal equals etc even ever every everyone everything exactly far few figure
    find fine first for from get gets getting give given gives go goes going gonna good got gotten great guess guys
    had hadn haha happen happened hard has hasn have haven having he hello help helped helping her here hers hey hi
    him his hm hmm how however i idea if im in instead into is isn it its ive just keep kind know knows last later
    least less let lets like likely little ll lol look looks lot lots made make makes making many may maybe me mean
    means might mine more most much must my myself near need needs neither never next no none nor not nothing now of
    off oh ok okay on once one ones only onto or other others our ours out over own part per perhaps please plus
    pretty probably put quite rather re really right said same saw say saying says see seem seems seen shall she
    should shouldn since so some someone something sometimes soon sorry still stuff such sure take takes tell than
    thank thanks that the their theirs them then there therefore these they thing things think this those though
    thought through thus to together told too took toward tried tries try trying two u um umm under understand until
    up upon ur us use used using usually ve very want wanted wants was wasn way we well went were weren what
    whatever when where whether which while who whole whom whose why will with within without won wont would wouldn
    wow ya yeah yep yes yet you your yours yourself
    """.split()  # noqa: SIM905 (a paragraph reads better than a list of 300 strings)
)

_WORD = r"[^\W\d_]+(?:['’\-][^\W\d_]+)*"
_NUMBER = r"[$€£¥]?\d+(?:[.,:]\d+)*%?"
_APOSTROPHE = re.compile("['’]")
_GAP = re.compile(r"[ \t]*")
_TOKEN = re.compile(rf"{_NUMBER}|{_WORD}")

# Han and Kana are written without spaces: what is left between their particles and commonest characters are words.
_DENSE = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_HAS_DENSE = re.compile(f"[{_DENSE}]")
_HAN_STOPS = "的了是在我你他她它们這这那和就都也嗎吗呢吧不有個个為为與与及或很"
_MIXED_TOKEN = re.compile(
    rf"{_NUMBER}|(?:(?![{_HAN_STOPS}])[\u30a0-\u30ff\u3400-\u9fff\uf900-\ufaff])+"
    rf"|(?:(?![{_DENSE}])[^\W\d_])+(?:['’\-](?:(?![{_DENSE}])[^\W\d_])+)*"
)


def key_phrases(text: str, limit: int = 8) -> tuple[str, ...]:
    """The phrases that say most about a text, rarest first.

    Parameters
    ----------
    text : str, in any language; of a text longer than 4,000 characters only beginning and end are read
    limit : int >= 0, most phrases returned

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
    >>> key_phrases("I think Julia bought 12 spoons, and her husband gave her a package.", limit=3)
    ('Julia bought 12 spoons', 'husband gave', 'package')
    >>> key_phrases("Я не понимаю дроби"), key_phrases("我不懂分数"), key_phrases("ok :-)")
    (('не понимаю дроби',), ('懂分数',), ())
    """
    best: dict[str, tuple[float, int, str]] = {}
    for order, run in enumerate(_runs(_readable(text))):
        words = " ".join(run)[:PHRASE_CHARACTERS].strip()
        score = sum(map(rarity, run)) / math.sqrt(len(run))
        known = best.get(words.casefold())
        if known is None or score > known[0]:
            best[words.casefold()] = (score, order if known is None else known[1], words)
    ranked = sorted(best.values(), key=lambda entry: (-entry[0], entry[1]))
    return tuple(words for _, _, words in ranked[:limit])


def rarest_word(text: str) -> str:
    """The rarest word of a text, function words included; empty where there is no letter or digit.

    Examples
    --------
    >>> rarest_word("it is not so"), rarest_word("?!")
    ('so', '')
    """
    return max((word[:PHRASE_CHARACTERS] for word in words_of(text)), key=rarity, default="")


def rarity(word: str) -> float:
    """How rare a word is in English: 8 minus its Zipf frequency (powers of ten per thousand million words).

    Returns
    -------
    float in [0, 7]; 7 for a word that is not among the 30,000 most frequent, 2.5 for a number

    Source: wordfreq (Speer 2022), its small English list.

    Examples
    --------
    >>> rarity("the") < rarity("people") < rarity("fraction") < rarity("numerator")
    True
    """
    if word[-1:].isdigit() or word[:1].isdigit():
        return NUMBER
    return _rarities().get(word.lower(), UNKNOWN)


def is_known(word: str) -> bool:
    """Whether a word is among the 30,000 most frequent English ones.

    Examples
    --------
    >>> is_known("fraction"), is_known("дроби")
    (True, False)
    """
    return word.lower() in _rarities()


def words_of(text: str) -> list[str]:
    """The words and numbers of a text, in order; of a long one those of its beginning and end.

    Examples
    --------
    >>> words_of("Isn't it 12.5%?")
    ["Isn't", 'it', '12.5%']
    """
    return [match.group() for match in _tokens(_readable(text))]


def _tokens(text: str) -> Iterator[re.Match[str]]:
    return (_MIXED_TOKEN if _HAS_DENSE.search(text) else _TOKEN).finditer(text)


def _readable(text: str) -> str:
    if len(text) > READ_CHARACTERS:
        half = READ_CHARACTERS // 2
        text = f"{text[:half]}\n{text[-half:]}"
    return unicodedata.normalize("NFC", text)


def _runs(text: str) -> list[list[str]]:
    """Content words in a row, at most four together."""
    runs: list[list[str]] = []
    previous = -1
    for match in _tokens(text):
        word = _content(match.group())
        if word is None:
            continue
        start = match.start()
        if len(runs) and len(runs[-1]) < PHRASE_WORDS and _GAP.fullmatch(text, previous, start):
            runs[-1].append(word)
        else:
            runs.append([word])
        previous = match.end()
    return runs


def _content(token: str) -> str | None:
    """The token as a word of a phrase; None for a function word or a lone letter."""
    if token[0].isdigit() or token[-1].isdigit() or token[-1] == "%":
        return token
    if len(token) == 1 and not _HAS_DENSE.match(token):
        return None
    if token.isalpha():
        return None if token.lower() in STOP_WORDS else token
    if _APOSTROPHE.split(token, maxsplit=1)[0].lower() in STOP_WORDS:
        return None
    return token[:-2] if token[-2:] in ("'s", "’s") else token


@lru_cache(maxsize=1)
def _rarities() -> dict[str, float]:
    # wordfreq takes half a second to import, which a command that asks no mind should not wait for.
    from wordfreq import get_frequency_dict

    return {word: max(0.0, -1.0 - math.log10(share)) for word, share in get_frequency_dict("en", "small").items()}
