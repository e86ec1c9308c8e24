"""A statement about the student, or the student's own words, turned to the student: "you live in Hamburg"."""

import re

from graphmem.text.lexicon import SECOND_PERSON
from graphmem.text.words import tokens

_VERBS = {"is": "are", "has": "have", "does": "do", "was": "were", "isn't": "aren't", "hasn't": "haven't",
          "doesn't": "don't", "wasn't": "weren't"}  # fmt: skip
_UNCHANGED = frozenset(
    "can could will would may might must shall should used never always often also still just now only".split()  # noqa: SIM905
)
_OWN = {"i": "you", "me": "you", "my": "your", "mine": "yours", "myself": "yourself", "we": "you", "us": "you",
        "our": "your", "ours": "yours", "i'm": "you are", "im": "you are", "i've": "you have", "i'd": "you would",
        "i'll": "you will", "we're": "you are", "we've": "you have"}  # fmt: skip
_AFTER_I = re.compile(r"\b(you|You)((?: (?:also|now|really|still|just|only|always|never))*) (am|was|wasn't)\b")
_STUDENT = re.compile(r"\b[Tt]he student(?P<own>['’]s)?\b(?: (?P<verb>[a-z]+(?:'t)?))?(?: (?P<next>[a-z]+))?")
_ABOUT = re.compile(r"\btheir\b")  # others than the student are "he" or "she"


def to_second_person(text: str) -> str:
    """A sentence as it is said to the student it is about; empty where it is about nobody who can be told.

    Own words that speak to somebody ("I will lend you my boat") cannot be turned without knowing to whom.

    Parameters
    ----------
    text : str, one sentence: of the student ("I live in Hamburg") or about the student ("The student lives ...")

    Examples
    --------
    >>> to_second_person("The student lives in Hamburg."), to_second_person("The student's dog is called Bello.")
    ('you live in Hamburg', 'your dog is called Bello')
    >>> to_second_person("The student doesn't get percentages.")
    "you don't get percentages"
    >>> to_second_person("I'm in 5th grade and my teacher is Mr Hill"), to_second_person("I was ill")
    ('you are in 5th grade and your teacher is Mr Hill', 'you were ill')
    >>> to_second_person("Cats purr."), to_second_person("I will lend you my boat")
    ('', '')
    """
    text = text.replace("’", "'").strip().rstrip(".!;, ")
    said = _of_student(text) if _STUDENT.search(text) else _of_own(text)
    return "" if said == text else f"{said[:1].lower()}{said[1:]}" if said[:1] == "Y" else said


def to_first_person(text: str) -> str:
    """A statement about the student as the student would say it, without short forms of "have".

    Examples
    --------
    >>> to_first_person("The student lives in Rome"), to_first_person("The student's dog barks")
    ('I live in Rome', 'my dog barks')
    """
    text = re.sub(r"\b(I|i|[Ww]e)['’]ve\b", r"\1 have", text)
    text = re.sub(r"\b[Tt]he student's\b", "my", text)
    text = re.sub(r"\b[Tt]he student (?:is|was)\b", "I am", text)
    text = re.sub(r"\b[Tt]he student has\b", "I have", text)
    return re.sub(r"\b[Tt]he student (\w+?)s?\b", r"I \1", text)


def _of_own(text: str) -> str:
    if not SECOND_PERSON.isdisjoint(token.text.lower() for token in tokens(text)):
        return text
    told, end = "", 0
    for token in tokens(text):
        told += text[end : token.start] + _OWN.get(token.text.lower(), token.text)
        end = token.end
    told += text[end:]
    return _AFTER_I.sub(lambda m: f"{m[1]}{m[2]} {'are' if m[3] == 'am' else m[3].replace('was', 'were')}", told)


def _of_student(text: str) -> str:
    def told(match: re.Match[str]) -> str:
        verb, after = match["verb"] or "", match["next"] or ""
        if match["own"]:
            return " ".join(filter(None, ("your", verb, after)))
        # "The student also likes": the verb is the second word.
        words = [verb, _plural(after)] if verb in _UNCHANGED and after and verb[-1:] != "d" else [_plural(verb), after]
        return " ".join(filter(None, ("you", *words)))

    return _ABOUT.sub("your", _STUDENT.sub(told, text))


def _plural(verb: str) -> str:
    """The form of a verb that follows "you", from the one that follows "the student"."""
    if verb in _VERBS:
        return _VERBS[verb]
    if verb in _UNCHANGED or not verb.endswith("s") or verb.endswith("ss"):
        return verb
    if verb.endswith(("sses", "shes", "ches", "xes", "oes", "zzes")):
        return verb[:-2]
    return f"{verb[:-3]}y" if verb.endswith("ies") else verb[:-1]
