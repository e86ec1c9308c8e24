"""Operations of arithmetic that a text names or writes out, and the topic of a task."""

import re

from graphmem.text.doc import Doc
from graphmem.text.lexicon import STOP_WORDS
from graphmem.text.stems import is_plural

_NAMED = {
    "add": re.compile(r"\badd(?:s|ed|ing)?\b(?! up to\b)|\bplus\b", re.IGNORECASE),
    "subtract": re.compile(
        r"\bsubtract(?:s|ed|ing)?\b|\bminus\b|\bt(?:ake|aking|ook|akes) (?:away|off)\b|\bdeduct(?:s|ed|ing)?\b",
        re.IGNORECASE,
    ),
    "multiply": re.compile(r"\bmultipl(?:y|ies|ied|ying)\b", re.IGNORECASE),
    "divide": re.compile(r"\bdivid(?:e|es|ed|ing)\b|\bdivision\b", re.IGNORECASE),
}
_SIGN = re.compile(r"(?<=[\d%)])\s*([-+*/x×÷·−])\s*(?=[$€£(]?\d)")
_SIGNS = (
    {"+": "add", "-": "subtract", "−": "subtract"} | dict.fromkeys("*x×·", "multiply") | dict.fromkeys("/÷", "divide")
)
_REFUSED = re.compile(
    r"\b(?:no need to|don't|do not|not|shouldn't|why (?:did|do|would|are) you|instead of|rather than"
    r"|you (?:have )?(?:already )?)\s*$",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r"\bhow many (?P<what>(?:(?!more|less|of)[a-z]+ )?"
    r"(?!more|less|times|is\b|was\b|does\b|has\b|years|dollars|cents)[a-z]+s)\b",
    re.IGNORECASE,
)
_CODE = re.compile(r"^\d[\d.]*[A-Z]?\.\s*(?!\d)|^\d+(?:\.\d+)+[A-Z]?[.\s]\s*|\s+[-–]\s.*$|\s*\(.*$")
_NO_TITLE = re.compile(r"[?!=]|\.$")
_NAMED_MATTER = re.compile(r"[^\W\d_]{3}")
LESSON_TITLE_WORDS = 8
"""Most words of a task that is the title of a lesson."""
TOPIC_WORDS = 3
"""Most words of a topic."""
AFTER_HINT = " after a hint"
"""How what is said of work ends where it was right once somebody had said that it was not."""
BY_STEP = " ("
"""What stands before the step that work went so with, in brackets."""
IN_TOPIC, IN_TOPICS = ", in a problem about ", " in problems about "
"""What stands before the topic of an exercise, and the topics of several, in what is said of work on them."""

INFLECTED = {
    "add": ("adds", "adding"),
    "subtract": ("subtracts", "subtracting"),
    "multiply": ("multiplies", "multiplying"),
    "divide": ("divides", "dividing"),
}
"""Each operation as somebody does it, and as a noun."""


def operations(text: str) -> frozenset[str]:
    """The operations that a text names, or writes out between two numbers.

    Examples
    --------
    >>> sorted(operations("12 - 3 = 9, then I add 5")), sorted(operations("1/2 of the cake"))
    (['add', 'subtract'], ['divide'])
    """
    named = {name for name, words in _NAMED.items() if words.search(text)}
    return frozenset(named | {_SIGNS[sign] for sign in _SIGN.findall(text)})


def advised(text: str) -> str:
    """The one operation that a tutor asks for by name; empty where none is, or several are.

    Examples
    --------
    >>> advised("No, you need to add as she still has them."), advised("Why did you add here?"), advised("Try again.")
    ('add', '', '')
    """
    named = {
        name for name, words in _NAMED.items() for m in words.finditer(text) if not _REFUSED.search(text[: m.start()])
    }
    return named.pop() if len(named) == 1 else ""


def lesson_title(task: str) -> str:
    """The title of a lesson, without its number; empty where a task is a text.

    Examples
    --------
    >>> lesson_title("5.2A.Decimal Numbers"), lesson_title("Solve 3x + 5 = 20."), lesson_title("How many are left?")
    ('Decimal Numbers', '', '')
    >>> lesson_title("5.3 Equivalent fractions on a number line")
    'Equivalent fractions on a number line'
    """
    words = task.split()
    title = len(words) <= LESSON_TITLE_WORDS and _NAMED_MATTER.search(task) and not _NO_TITLE.search(task.strip())
    return _CODE.sub("", _CODE.sub("", task)).strip() if title else ""


def topic_of(task: str) -> str:
    """What a task is about, in a few words: the title of a lesson, or what an exercise asks for; empty without one.

    Examples
    --------
    >>> topic_of("5.2A.Decimal Numbers"), topic_of("Julia had a party. How many plastic spoons did she buy?")
    ('Decimal Numbers', 'plastic spoons')
    >>> topic_of("Max was born when Luka was 4 years old. How deep is the valley?")
    'the valley'
    """
    if title := lesson_title(task):
        return title
    asked = [sentence for sentence in Doc(task).sentences if sentence.text.rstrip().endswith("?")]
    named = {word.casefold() for entity in Doc(task).entities for word in entity.name.split()} | STOP_WORDS
    counted = _COUNTED.search(asked[-1].text) if asked else None
    if counted:
        return str(counted["what"]).lower()
    for phrase in Doc(asked[-1].text).key_phrases(6) if asked else ():
        words = phrase.casefold().split()
        noun = re.search(rf"\b(the|an?|of|each|per|his|her|their|\d+) {re.escape(phrase)}\b", task, re.IGNORECASE)
        if noun and len(words) <= TOPIC_WORDS and named.isdisjoint(words) and not words[-1].endswith(("ly", "old")):
            return f"the {phrase}" if noun[1].lower() in ("the", "a", "an") and not is_plural(words[-1]) else phrase
    return ""


def work_and_topic(statement: str) -> tuple[str, str]:
    """What a statement tells of work, whatever the exercise and the step that showed it, and the exercise's topic.

    Examples
    --------
    >>> work_and_topic("Mo goes wrong with rates, in a problem about weeks (added the hours).")
    ('Mo goes wrong with rates', 'weeks')
    >>> work_and_topic("Mo adds where one has to subtract.")
    ('Mo adds where one has to subtract', '')
    """
    told, _, topic = statement.partition(BY_STEP)[0].rstrip(".").partition(IN_TOPIC)
    return told, topic
