"""Answers of a few words as the statements that they are, by the question that they answer (spec 7)."""

import re

from graphmem.model import Heard
from graphmem.text.certainty import last_question
from graphmem.text.clauses import statement_spans, telling_spans
from graphmem.text.doc import Doc, doc_of
from graphmem.text.lexicon import OCCUPATION_ENDINGS, SMALL_NUMBERS
from graphmem.text.normalize import straightened
from graphmem.text.retelling import without_lead_in
from graphmem.text.slots import is_attribute, slot_of
from graphmem.text.stems import is_plural

ANSWER_WORDS, QUESTION_CHARACTERS = 16, 200
"""Most words of an answer that is read by its question, and most characters of the question."""
PIECE_WORDS = 3
"""Words of a piece of a message from which on it may tell something by itself."""
_NUMBER = rf"(?:\d+|{SMALL_NUMBERS})"
_A_THING = re.compile(rf"(?:(?:just|only|actually) )*(?:an?|{_NUMBER}|some|many|several|lots of|my)\b", re.IGNORECASE)
_AT = re.compile(r"(?:in|at|on|near|with|by|outside|next|for|from|around|just|up|down|over)\b", re.IGNORECASE)
_WHO_WORKS = re.compile(
    rf"(?!an? |the |my )(?:[a-z-]+ ){{0,2}}[a-z-]*(?:{OCCUPATION_ENDINGS}|ant|coach|man|woman)\b", re.IGNORECASE
)
# An answer with a subject of its own needs no question; what asks, points back or says yes and no is not read by one.
_ITSELF = re.compile(
    r"(?:(?:and|but|so|well|oh|just) )*(?:i|we|you|u|he|she|it|they|there|that|this|these|those|mine|yours|same|thanks"
    r"|what|who|where|when|why|how|which|do|does|did|have|has|is|are|am|was|were|can|could|will|would|if|let|not"
    r"|no|nope|yes|yep|yeah|sure|maybe|never|always|nothing|none|anything|good|fine|great|pretty|very)\b(?!')"
    r"|(?:i'|it'|that'|he'|she'|there'|what'|who'|how'|where')",
    re.IGNORECASE,
)
_OWN_VERB = re.compile(
    r"\b(?:is|are|am|was|were|has|have|had|do|does|did|will|would|can|could|should|must|i'm|it's|that's|\w+n't)\b"
    r"|'s (?:an?|the|my|so|not|very|really|mostly|just|been|pretty|always|more)\b",
    re.IGNORECASE,
)
_LISTED = re.compile(
    rf", (?:and|or) (?!(?:i|it|we|he|she|they|my|his|her|the|that|there)\b)[^,;]*?(?:{_OWN_VERB.pattern})", re.I
)
"""A verb after the last of several: "reading, and music is great" has a subject of its own."""
# No spaces are taken before it: a long row of them would be searched from each.
_PART = re.compile(r"(?:[,;.!(–—-]|\b(?:because|since|but|and (?:i|it|we|he|she|they|my)|which|who|when|so)\b)")

# The words of a question, and how its answer goes on; {a} stands for the answer.
_FORMS = tuple(
    (re.compile(rf"(?:^|[\s,;.!]){question}\W*$", re.IGNORECASE), needs, statement)
    for question, needs, statement in (
        (r"how old are you", re.compile(_NUMBER, re.IGNORECASE), "I am {a}"),
        (r"(?:where do|where are) you (?:come )?from", None, "I am from {a}"),
        (r"where do you live(?: now)?", _AT, "I live {a}"),
        (r"where do you live(?: now)?", None, "I live in {a}"),
        (r"where do you work", _AT, "I work {a}"),
        (r"where do you work", None, "I work at {a}"),
        (r"what do you do for (?:a living|work)", re.compile(r"an?\b", re.IGNORECASE), "I am {a}"),
        (r"what do you do for (?:a living|work)", _WHO_WORKS, "I work as {an} {a}"),
        (r"what do you do for (?:a living|work)", re.compile(r"(?:the |my )|.*s\b", re.IGNORECASE), "I work as {a}"),
        (r"what do you do for (?:a living|work)", None, "I work in {a}"),
        (r"(?:what|which) (?:\w+ ){1,3}are you (?P<r>in|on|at)", None, "I am {r} {a}"),
        (r"what are you (?:doing|up to)(?: now| today| tonight)?", re.compile(r"(?:just )?\w+ing\b", re.I), "I am {a}"),
        (
            r"(?:what|which|who) (?:\w+ ){0,3}are you (?!doing|talking|saying|asking|thinking|going|looking)"
            r"(?P<r>(?:\w+ ){0,2}\w+(?:ing| (?:of|to|at|in|about|with)))",
            None,
            "I am {r} {a}",
        ),
        (r"how many (?P<r>\w+) do you have", re.compile(rf"{_NUMBER}\W*$", re.IGNORECASE), "I have {a} {r}"),
        (r"how many (?:\w+ ){1,3}do you have", _A_THING, "I have {a}"),
        (
            r"(?:do you have|have you got|you have|got) (?:an?|any|some|many) [\w']+(?: [\w']+){0,3}",
            _A_THING,
            "I have {a}",
        ),
        (r"do you have (?:pets|siblings|kids|children|brothers|sisters)(?: or \w+)?", _A_THING, "I have {a}"),
        (r"(?:what|which)(?: (?:kinds?|sorts?|types?) of)?(?: \w+){1,2} do you have", None, "I have {a}"),
        (
            r"(?:what|who|when|where)(?:'s| ?is|s) (?:your|ur) (?P<n>(?:\w+ ){0,4}\w+)(?<! in| of| at)",
            None,
            "My {n} is {a}",
        ),
        (r"(?:what|who|when|where) are (?:your|ur) (?P<n>(?:\w+ ){0,4}\w+)(?<! in| of| at)", None, "My {n} are {a}"),
        (r"how old is your (?P<n>(?:\w+ )?\w+)", re.compile(_NUMBER, re.IGNORECASE), "My {n} is {a}"),
        (r"how old are your (?P<n>(?:\w+ )?\w+)", re.compile(_NUMBER, re.IGNORECASE), "My {n} are {a}"),
        (
            r"(?:what|which|who)(?: else)?(?: (?:kinds?|sorts?|types?) of)?(?: [\w']+){0,3} do you (?:usually )?"
            r"(?P<r>(?:like|love|want|prefer|hate)(?: (?:to )?(?:be|eat|drink|play|watch|read|study|listen to))?"
            r"|(?:play|drive|speak|study|read|watch|collect|support|eat|drink|ride|teach|listen to|live with|work with"
            r"|wear|cook|grow|bake|draw|paint|sing|enjoy|follow))",
            None,
            "I {r} {a}",
        ),
    )
)

_MINE = re.compile(r"(?:and |but |well )?mine(?P<told>(?:'s| \w+) .*)", re.IGNORECASE | re.DOTALL)
_YOURS = re.compile(
    r"\b(?P<whose>your|ur|an?|any|some) (?P<n>(?:[\w']+ ){0,3}?[\w']+)"
    r"(?: (?:called|named|doing|like|at|in|from|now|today|then))*\W*$",
    re.IGNORECASE,
)
"""What somebody is asked for that may be said to be "mine": their own, or one of its kind."""
_OF_YOURS = re.compile(
    r"(?:^|[.!?,])\s*(?:(?:and|so|but) )?(?:is|are|was|were|do|does|did|has|have|can|could|will|would) $", re.IGNORECASE
)
"""Before "your": what is asked about follows, what is asked of it after that."""
_FAVOURITE = re.compile(r"(?:most |least )?favou?rite\b", re.IGNORECASE)

_OTHER = {"am i": "are you", "i am": "you are", "i'm": "you are", "i": "you", "my": "your", "me": "you"}
_TO_OTHER = re.compile(r"\b(?:am i|i am|i'm|i|my|me)\b", re.IGNORECASE)
_FILLERS = ("something", "12", "third grade")
"""Answers of which each kind of question takes one."""


def stated_answer(heard: Heard) -> str:
    """The first clause of a message as the statement that it is by the question before; empty where it is none.

    At work on a task an answer is a step.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> stated_answer(Heard("Yes, two brothers!", datetime(2026, 1, 5, tzinfo=UTC), before="Do you have siblings?"))
    'I have two brothers'
    """
    question = "" if heard.task else last_question(heard.before)
    doc = doc_of(heard)
    spans = telling_spans(doc) if question else ()
    return as_statement(question, without_lead_in(doc.text[slice(*spans[0])])) if spans else ""


def told_apart(heard: Heard) -> tuple[str, ...]:
    """What a message tells piece by piece: its clauses that ask nothing, without how they lead in, and its answer.

    Where the whole seems to tell nothing, for praise or a question beside it, a piece may tell something; of a message
    that is one piece there are none.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> at = datetime(2026, 1, 5, tzinfo=UTC)
    >>> told_apart(Heard("yeah i have a cat, how about you?", at)), told_apart(Heard("I have a cat.", at))
    (('i have a cat',), ())
    """
    doc = doc_of(heard)
    pieces = [doc.text[slice(*span)] for span in statement_spans(doc)]
    clauses = [without_lead_in(each) for each in pieces if not (Doc(each).asks or each.endswith("?"))]
    telling = [each for each in clauses if len(Doc(each).words) >= PIECE_WORDS and each != doc.text]
    answer = stated_answer(heard)
    return tuple(dict.fromkeys([*telling, *([answer] if answer else [])]))


def tells_attribute(heard: Heard) -> bool:
    """True if a message, or the answer that it is, tells an attribute (`is_attribute`) of the student or the family.

    At work on a task it tells none.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> [tells_attribute(Heard(text, datetime(2026, 1, 5, tzinfo=UTC))) for text in ("I am 15", "I like it here")]
    [True, False]
    """
    doc = doc_of(heard)
    pieces = [stated_answer(heard), *(doc.text[slice(*span)] for span in telling_spans(doc))]
    return not heard.task and any(is_attribute(slot_of(Doc(piece))) for piece in pieces)


def as_statement(question: str, answer: str) -> str:
    """An answer without a verb of its own, said by the words of the question; empty where it cannot be.

    Parameters
    ----------
    question : the last question before it, such as `graphmem.text.certainty.last_question` gives
    answer : its first clause, without how it leads in

    Examples
    --------
    >>> as_statement("Where do you live?", "manhattan"), as_statement("Do you have any pets?", "a cat and a rabbit")
    ('I live in manhattan', 'I have a cat and a rabbit')
    >>> as_statement("Which instrument do you play?", "the cello, since I was six")
    'I play the cello, since I was six'
    >>> as_statement("Where do you live?", "i like it there"), as_statement("How are you?", "tired")
    ('', '')
    >>> as_statement("What do you play?", "Guitar's my thing"), as_statement("What do you like?", "art, and tea is ok")
    ('', '')
    """
    said, asked = straightened(answer).strip(" \t\n.!,;"), " ".join(straightened(question).split())
    if not said or len(said.split()) > ANSWER_WORDS or len(asked) > QUESTION_CHARACTERS:
        return ""
    if named := with_mine_named(asked, said):
        return named
    part = _PART.search(said)
    head = said[: part.start()] if part and part.start() else said
    if _ITSELF.match(head) or _OWN_VERB.search(head) or _LISTED.search(said) or "?" in said:
        return ""
    for form, needs, statement in _FORMS:
        found = form.search(asked)
        if found is not None and (needs is None or needs.match(said)):
            an = "an" if said[:1].lower() in "aeiou" else "a"
            return statement.format(a=said, an=an, **found.groupdict())
    return ""


def with_mine_named(question: str, told: str) -> str:
    """What is told of "mine" with what the question before it names; empty where it is not, or names none.

    Examples
    --------
    >>> with_mine_named("Do you have a big dog?", "mine is called Rex"), with_mine_named("Any hobbies?", "Mine's chess")
    ('My dog is called Rex', 'One of my hobbies is chess')
    >>> with_mine_named("what is your favorite food ?", "mine is papaya"), with_mine_named("How are you?", "mine is ok")
    ('My favorite food is papaya', '')
    >>> with_mine_named("Are your parents kind?", "mine are not")
    'My parents are not'
    """
    mine, found = _MINE.fullmatch(told), _YOURS.search(question)
    if mine is None or found is None:
        return ""
    thing, rest = found["n"], mine["told"].replace("'s ", " is ", 1)
    if found["whose"].lower() in ("your", "ur") and _OF_YOURS.search(question[: found.start()]):
        # "Are your parents kind?" asks about parents.
        thing, *said_of_it = thing.split()
        if len(said_of_it) > 1:
            return ""
    if found["whose"].lower() not in ("your", "ur") and not _FAVOURITE.match(thing):
        # "A big dog" is asked for, and a dog is told of.
        thing = thing.split()[-1]
    one_of = is_plural(thing.split()[-1].lower()) and rest.startswith((" is ", " was "))
    return f"{'One of my' if one_of else 'My'} {thing}{rest}"


def asked_slot(question: str) -> str | None:
    """The attribute that the student asks for about themselves, where it has one value at a time; else None.

    It is the one that an answer of a word or two would tell.

    Examples
    --------
    >>> asked_slot("Where do I live?"), asked_slot("what do i do for a living"), asked_slot("How are you?")
    ('self home', 'self job', None)
    """
    put_back = _TO_OTHER.sub(lambda match: _OTHER[match.group().lower()], straightened(question))
    slots = (slot_of(Doc(as_statement(put_back, filler))) for filler in _FILLERS)
    return next(filter(is_attribute, slots), None)
