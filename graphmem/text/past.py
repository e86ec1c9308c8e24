"""Statements put into the past: what was so until it was superseded (spec 12)."""

import re

from graphmem.model import ANYONE
from graphmem.text.lexicon import STOP_WORDS
from graphmem.text.stems import is_past

_BE = {
    "is": "was", "isn't": "wasn't", "are": "were", "aren't": "weren't", "has": "had", "hasn't": "hadn't",
    "have": "had", "does": "did", "doesn't": "didn't", "do": "did", "don't": "didn't", "can": "could",
    "can't": "couldn't", "will": "was going to", "wants": "wanted", "shares": "shared",
}  # fmt: skip
"""Present forms with a past of their own; a closed list."""
_NAME = r"(?:The student|(?!The\b)[A-Z][\w-]*(?: [A-Z][\w-]*)*)"
_ADVERBS = r"(?: (?:also|always|really|just|still|often|usually|sometimes|only|even|now|currently))*"
_OWN = re.compile(
    rf"^(?P<subject>{_NAME}'s(?: [\w-]+){{1,4}}?)(?P<adverbs>{_ADVERBS}) (?P<verb>{'|'.join(_BE)})(?=[ .,!;]|$)"
)
_VERB = re.compile(rf"^(?P<subject>{_NAME})(?P<adverbs>{_ADVERBS}) (?P<verb>[a-z]+(?:n't)?)(?=[ .,!;]|$)")
_NOW = re.compile(r" (?:still|now|currently)\b")
_NOW_AFTER = re.compile(rf"^{_NOW.pattern}| (?:right )?now(?=[.!,;]|$)")


def put_in_past(statement: str) -> str:
    """A statement about somebody as one about what was so; where no verb is recognised, marked as former.

    Parameters
    ----------
    statement : str, in the third person, in English

    Source: spec 12 (the superseded memory is reworded as past).

    Examples
    --------
    >>> put_in_past("Tobi lives in Rome."), put_in_past("Tobi's favourite colour is teal.")
    ('Tobi used to live in Rome.', "Tobi's favourite colour was teal.")
    >>> put_in_past("The student doesn't like olives."), put_in_past("Tobi watches football.")
    ("The student didn't like olives.", 'Tobi used to watch football.')
    >>> put_in_past("Tobi is still looking for a place."), put_in_past("Tobi is in Rome now.")
    ('Tobi was looking for a place.', 'Tobi was in Rome.')
    >>> put_in_past("Tobi moved to Leeds."), put_in_past("Tobi says that all birds can fly.")
    ('Tobi moved to Leeds.', 'Formerly: Tobi says that all birds can fly.')
    >>> put_in_past("For statistics there is an exam.")
    'Formerly: For statistics there is an exam.'
    """
    found = _OWN.match(statement) or _VERB.match(statement)
    # "For statistics there is an exam" begins with nobody's name.
    if found is None or (found["subject"] != ANYONE and found["subject"].split()[0].lower() in STOP_WORDS):
        return f"Formerly: {statement}"
    verb, told = found["verb"], statement[found.end() :]
    start = found["subject"] + _NOW.sub("", found["adverbs"])
    if verb in _BE:
        return f"{start} {_BE[verb]}{_NOW_AFTER.sub('', told, count=1)}"
    if is_past(verb):
        return statement
    if verb in ("says", "asks") or not verb.endswith("s") or verb.endswith("ss"):
        return f"Formerly: {statement}"
    return f"{start} used to {_base(verb)}{_NOW_AFTER.sub('', told, count=1)}"


def _base(verb: str) -> str:
    """The base of a verb's third person, which ends with s."""
    if verb.endswith("ies") and len(verb) > len("dies"):
        return f"{verb.removesuffix('ies')}y"
    if verb.endswith(("sses", "shes", "ches", "xes", "zzes", "oes")):
        return verb.removesuffix("es")
    return verb.removesuffix("s")
