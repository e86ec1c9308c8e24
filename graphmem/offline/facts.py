"""What a violated expectation teaches, worded by rule, and the keywords of a message (spec 4)."""

from collections.abc import Iterable, Sequence

from graphmem.model import Lesson, Mismatch
from graphmem.text.keyphrases import key_phrases, rarest_word, rarity
from graphmem.text.sanitize import clean, clipped, sentences

LONGEST = 220
"""Characters of the longest lesson."""
TAGS = 5
"""Most tags of a lesson."""
_SHARES = {"actual": 85, "asked": 46, "predicted": 36}
"""Characters each part may take; what one leaves over goes to those before it, as what was said matters most."""


def lesson(mismatch: Mismatch) -> Lesson:
    """One sentence on the difference between what was expected and what was said, with 1 to 5 tags.

    Parameters
    ----------
    mismatch : Mismatch; long messages are quoted by the sentence that says most

    Returns
    -------
    Lesson with a text of at most 220 characters on one line, and tags that are key phrases of the actual message or,
    where it has none, of the one it answers, else of the prediction

    Source: spec 4.

    Examples
    --------
    >>> learned = lesson(Mismatch("I would add 5", "My dog ate the spoons", "How many are left?"))
    >>> learned.text
    'Asked “How many are left?”, the student said “My dog ate the spoons” where “I would add 5” was expected.'
    >>> learned.tags
    ('spoons', 'dog ate')
    """
    parts = {
        "actual": _telling(mismatch.actual),
        "asked": _question(mismatch.asked),
        "predicted": _telling(mismatch.predicted),
    }
    said = _fitted({name: clean(text).rstrip(" .") for name, text in parts.items()})
    actual = f"the student said “{said['actual']}”" if said["actual"] else "the student said nothing in words"
    asked = f"Asked “{said['asked']}”, {actual}" if said["asked"] else f"{actual[0].upper()}{actual[1:]}"
    text = f"{asked} where “{said['predicted']}” was expected." if said["predicted"] else f"{asked}."
    return Lesson(text, _tags(*parts.values()))


def keywords(texts: Iterable[str], limit: int) -> tuple[str, ...]:
    """The key phrases of some texts, or else their rarest word; empty only where there is no letter or digit.

    Parameters
    ----------
    texts : str each, the most important one first; each of the others adds at most half of `limit`
    limit : int >= 1, most keywords

    Returns
    -------
    tuple of str, none empty, none twice; bare numbers only where there is nothing else

    Examples
    --------
    >>> keywords(["I got 12 spoons = 12", "How many spoons did Julia buy?"], 8)
    ('12 spoons', 'spoons', 'Julia buy')
    >>> keywords(["12", ""], 8), keywords(["is it so?"], 8), keywords([":-)"], 8)
    (('12',), ('so',), ())
    """
    texts = list(texts)
    if phrases := _phrases(texts, limit):
        return phrases
    words = [word for text in texts if (word := rarest_word(clean(text)))]
    return (max(words, key=rarity),) if words else ()


def _tags(actual: str, asked: str, predicted: str) -> tuple[str, ...]:
    """What was said, with what it answers where it names nothing but numbers; or else what it answers."""
    tags = _phrases([actual], TAGS)
    if not any(_is_named(tag) for tag in tags):
        tags = (*tags, *(tag for tag in _phrases([asked], TAGS) if tag not in tags))[:TAGS]
    return tags or keywords([predicted, actual, asked], TAGS) or ("no words",)


def _phrases(texts: Sequence[str], limit: int) -> tuple[str, ...]:
    """The key phrases of some texts, bare numbers only where there is nothing else."""
    found: dict[str, str] = {}
    for i, text in enumerate(texts):
        for phrase in key_phrases(clean(text), limit if i == 0 else max(1, limit // 2)):
            found.setdefault(phrase.casefold(), phrase)
    named = [phrase for phrase in found.values() if _is_named(phrase)]
    return tuple((named or list(found.values()))[:limit])


def _is_named(phrase: str) -> bool:
    return any(c.isalpha() for c in phrase)


def _question(text: str) -> str:
    """What was asked last in a text, or else all of it."""
    asked = [sentence for sentence in sentences(text) if sentence.endswith("?")]
    return asked[-1] if asked else text


def _telling(text: str) -> str:
    """A short text as it is; of a long one the sentence that says most and what follows it."""
    if len(text) <= _SHARES["actual"]:
        return text
    parts = sentences(text)
    scores = [sum(map(rarity, key_phrases(part, 3))) for part in parts]
    best = max(range(len(parts)), key=lambda i: scores[i], default=0)
    return " ".join(parts[best:])


def _fitted(parts: dict[str, str]) -> dict[str, str]:
    """Parts cut so that together they leave room for the words around them."""
    fitted, spare = {}, 0
    for name, share in reversed(_SHARES.items()):
        fitted[name] = clipped(parts[name], share + spare)
        spare += share - len(fitted[name])
    return fitted
