"""What a question asks for: whom it names, and the words worth searching (spec 10.1)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

# Words that questions are made of. Shorter than a list for key phrases: "first", "help" or "money" may be what one
# looks for, and rarity weighs the others.
QUESTION_WORDS = frozenset(
    """
    a about all am an and any are as at be been but by can could d did do does doing for from had has have having he
    her hers him his how i if in into is it its itself ll m me my of on or our re s she should so some such t than that
    the their them then there these they this those to ve was we were what when where which while who whom whose why
    will with would you your
    """.split()  # noqa: SIM905 (a paragraph reads better than a list of strings)
)

_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Asked:
    """A question as it is searched.

    text : without the names of those who spoke, for its embedding
    words : its content words, in order, each once
    names : of those who spoke, the ones it names
    """

    text: str
    words: tuple[str, ...]
    names: tuple[str, ...]


def read_question(question: str, speakers: Iterable[str]) -> Asked:
    """Take the names of speakers out of a question, and find its words.

    What holds the name of somebody who takes part is what *others* said to them ("Hey Julia!"), so a name is no word
    to search for; it says whose memories are asked for. Names of others stay words like any.

    Parameters
    ----------
    question : str, any text
    speakers : names of all who spoke in the student's memories

    Returns
    -------
    Asked

    Source: spec 10.1.

    Examples
    --------
    >>> read_question("When did Julia buy Bello's lead?", ["Julia", "Tom"])
    Asked(text="When did buy Bello's lead?", words=('buy', 'bello', 'lead'), names=('Julia',))
    """
    text, names = question, []
    for name in sorted({s.strip() for s in speakers if s.strip()}, key=lambda n: (-len(n), n)):
        text, found = re.subn(rf"(?<!\w){re.escape(name)}(?:['’]s)?(?!\w)", " ", text, flags=re.IGNORECASE)
        if found:
            names.append(name)
    plain = " ".join(text.split())
    return Asked(plain, content_words(plain), tuple(names))


def content_words(text: str) -> tuple[str, ...]:
    """The words of a text that questions are not made of, in lower case, each once, in order.

    Examples
    --------
    >>> content_words("What did you say about the Apples, apples?")
    ('say', 'apples')
    """
    words = (word.lower() for word in _WORD.findall(text))
    return tuple(dict.fromkeys(word for word in words if word not in QUESTION_WORDS))
