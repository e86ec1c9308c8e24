"""Lessons of violated expectations, worded by rule, and the keywords of messages (spec 4)."""

from collections.abc import Iterable, Sequence

from graphmem.model import Lesson, Mismatch
from graphmem.text.doc import Doc
from graphmem.text.keyphrases import rarest_word
from graphmem.text.sanitize import clean, clipped
from graphmem.text.words import word_rarity

LESSON_CHARACTERS = 220
"""Characters of the longest lesson."""
MAX_LESSON_TAGS = 5
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
        "actual": _telling(Doc(mismatch.actual)),
        "asked": _question(Doc(mismatch.asked)),
        "predicted": _telling(Doc(mismatch.predicted)),
    }
    said = _fitted({name: clean(text).rstrip(" .") for name, text in parts.items()})
    actual = f"the student said “{said['actual']}”" if said["actual"] else "the student said nothing in words"
    asked = f"Asked “{said['asked']}”, {actual}" if said["asked"] else f"{actual[0].upper()}{actual[1:]}"
    text = f"{asked} where “{said['predicted']}” was expected." if said["predicted"] else f"{asked}."
    return Lesson(text, _tags(*map(Doc, parts.values())))


def keywords(docs: Iterable[Doc], limit: int) -> tuple[str, ...]:
    """The key phrases of some texts, or else their rarest word; empty only where there is no letter or digit.

    Parameters
    ----------
    docs : the most important one first; each of the others adds at most half of `limit`
    limit : int >= 1, most keywords

    Returns
    -------
    tuple of str, none empty, none twice; bare numbers only where there is nothing else

    Examples
    --------
    >>> keywords([Doc("I got 12 spoons = 12"), Doc("How many spoons did Julia buy?")], 8)
    ('12 spoons', 'spoons', 'Julia buy')
    >>> keywords([Doc("12")], 8), keywords([Doc("is it so?")], 8), keywords([Doc(":-)")], 8)
    (('12',), ('so',), ())
    """
    docs = list(docs)
    if phrases := _phrases(docs, limit):
        return phrases
    words = [word for doc in docs if (word := rarest_word(doc.shown.excerpt.words))]
    return (max(words, key=word_rarity),) if words else ()


def _tags(actual: Doc, asked: Doc, predicted: Doc) -> tuple[str, ...]:
    """Tags from the answer, with those of the question where it names nothing but numbers; or else keywords."""
    tags = _phrases([actual], MAX_LESSON_TAGS)
    if not any(_is_named(tag) for tag in tags):
        tags = (*tags, *(tag for tag in _phrases([asked], MAX_LESSON_TAGS) if tag not in tags))[:MAX_LESSON_TAGS]
    return tags or keywords([predicted, actual, asked], MAX_LESSON_TAGS) or ("no words",)


def _phrases(docs: Sequence[Doc], limit: int) -> tuple[str, ...]:
    """The key phrases of some texts, bare numbers only where there is nothing else."""
    found: dict[str, str] = {}
    for i, doc in enumerate(docs):
        for phrase in doc.shown.key_phrases(limit if i == 0 else max(1, limit // 2)):
            found.setdefault(phrase.casefold(), phrase)
    named = [phrase for phrase in found.values() if _is_named(phrase)]
    return tuple((named or list(found.values()))[:limit])


def _is_named(phrase: str) -> bool:
    return any(c.isalpha() for c in phrase)


def _question(doc: Doc) -> str:
    """Last question of a text, or else the whole text."""
    asked = [sentence.text for sentence in doc.sentences if sentence.text.endswith("?")]
    return asked[-1] if asked else doc.text


def _telling(doc: Doc) -> str:
    """A short text as it is; of a long one the sentence that says most and what follows it."""
    if len(doc.text) <= _SHARES["actual"]:
        return doc.text
    parts = doc.excerpt.sentences
    scores = [sum(map(word_rarity, part.key_phrases(3))) for part in parts]
    best = max(range(len(parts)), key=lambda i: scores[i], default=0)
    return " ".join(part.text for part in parts[best:])


def _fitted(parts: dict[str, str]) -> dict[str, str]:
    """Parts cut so that together they leave room for the words around them."""
    fitted, spare = {}, 0
    for name, share in reversed(_SHARES.items()):
        fitted[name] = clipped(parts[name], share + spare)
        spare += share - len(fitted[name])
    return fitted
