"""A question and what is answered to it, as the one statement that the two make (spec 20).

"Do you cut yourself?" and "yes every night" say "I cut myself. yes every night"; a bare "yes" says "I cut myself".
"""

import re
from dataclasses import dataclass

from graphmem.text.normalize import plain
from graphmem.text.sentences import sentence_spans

MOST_ANSWER_WORDS = 8
"""Most words of an answer without yes or no that is read by its question."""
QUESTION_CHARACTERS = 300

_OPENING = r"^\W*(?:(?:so|and|but|ok|okay|well|hey|oh|tell me|sorry|also|please|then|or|lol|haha|ew|uh|um|hm+)\b\W*)*"
_ASKS = re.compile(
    rf"{_OPENING}(?:(?P<wh>who|what|where|when|why|which|how(?: \w+)?)\b\W*(?P<object>(?:\w+ ){{0,3}}?(?=do|did))?)?"
    r"(?P<aux>do|does|did|are|is|was|were|have|has|had|can|could|will|would|should)?\b(?:n't)? ?(?P<rest>.*?)\W*$",
    re.DOTALL,
)
_SUBJECT = re.compile(
    r"(?:you|he|she|they|it|there|we|(?:some|any|no|every)(?:body|one)|(?:your|the|a|his|her|their|this|these) \w+)\b"
)
_YES = re.compile(
    rf"{_OPENING}(?:y(?:es+|eah+|ea+h*|ep|up|ah|a|e|uh)|m+h+m+|uh ?huh|sometimes|often|always|kinda|kind of|sort of"
    r"|maybe|perhaps|probably|true|sure|right|(?:i|he|she|they|it) (?:do|does|did|am|is|are|was|have|has|guess"
    r"|think so)\b)\b"
)
_NO = re.compile(
    rf"{_OPENING}(?:no+|nope|nah+|never|not|none|nobody|nothing|of course not|(?:i|he|she|they|it) (?:\w+n'?t|never)"
    r"|dont)(?!\w)"
)
_NO_ANSWER = re.compile(
    rf"{_OPENING}(?:idk|idc|dunno|why|what|who|when|how|where|can|could|do|does|is|are|i|i'm|im|we|you|he|she|it|they|that)"
    r"\b|.*\?\s*$",
    re.DOTALL,
)
_YOU_ACTS = re.compile(
    r"\byou(?= (?:do|did|don't|didn't|are|were|have|had|can|could|will|would|want|wanted|like|liked|feel|felt"
    r"|think|need|mean|might|should|ever|sometimes|often|really|last|still|go|just)\b)"
)


@dataclass(frozen=True)
class Answered:
    """What an answer says with its question.

    denied : the answer is no, and the text the question denied
    """

    text: str
    denied: bool = False


def told_with_question(asked: str, answer: str) -> Answered | None:
    """The statement that a question and its answer make; None where the answer is none, or needs no question.

    Parameters
    ----------
    asked : what was said before the answer; its last sentence counts
    answer : str

    Examples
    --------
    >>> told_with_question("I hear you. Does your dad hit you?", "yes when hes drunk").text
    'my dad hit me. yes when hes drunk'
    >>> told_with_question("Who hits you?", "my uncle").text, told_with_question("Are you safe at home?", "no").text
    ('my uncle hits me', 'I am not safe at home')
    >>> told_with_question("Do you like maths?", "I got 12"), told_with_question("Good.", "yes")
    (None, None)
    """
    spans = sentence_spans(asked[-QUESTION_CHARACTERS:])
    question = plain(asked[-QUESTION_CHARACTERS:][slice(*spans[-1])]) if spans else ""
    found, said = _ASKS.match(question), plain(answer)
    if not question.rstrip().endswith("?") or found is None or not said.strip():
        return None
    if _YES.match(said):
        denied = False
    elif _NO.match(said):
        denied = True
    elif _NO_ANSWER.match(said) or len(said.split()) > MOST_ANSWER_WORDS:
        return None
    else:
        denied = False
    statement = _stated(found, denied)
    if statement is None:
        return None
    if found["wh"] == "who" and not found["aux"]:
        return None if denied else Answered(f"{answer.strip()} {statement}")
    if denied:
        return None if found["wh"] else Answered(statement, denied=True)
    if not found["wh"] and len(said.split()) == 1:
        # A bare "yes" says no more than the question does.
        return Answered(statement)
    return Answered(f"{statement}{' ' if found['wh'] else '. '}{answer.strip()} {found['object'] or ''}".rstrip())


def _stated(found: re.Match[str], denied: bool) -> str | None:
    """What a question asks for, as whoever is asked says it."""
    aux, rest = found["aux"], found["rest"]
    subject = _SUBJECT.match(rest)
    if not aux:
        return None if found["wh"] is None else _of_me(rest)
    if subject is None:
        return None
    who, does = subject.group(), rest[subject.end() :].strip()
    verb = "" if aux in ("do", "does", "did") and not denied else f"{aux} "
    return _of_me(f"{who} {verb}{'not ' if denied else ''}{does}")


def _of_me(text: str) -> str:
    """What is said to somebody, as they say it."""
    text = re.sub(r"^you\b", "I", text)
    text = re.sub(r"\bI are\b", "I am", re.sub(r"\bI were\b", "I was", _YOU_ACTS.sub("I", text)))
    text = re.sub(r"\byour\b", "my", re.sub(r"\byourself\b", "myself", re.sub(r"\byours\b", "mine", text)))
    return re.sub(r"\byou\b", "me", text)
