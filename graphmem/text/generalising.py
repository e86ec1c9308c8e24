"""Generalising: a step of a solution said without its exercise's numbers, each number by the part it plays."""

import re
from collections.abc import Iterator
from fractions import Fraction

from graphmem.text.lexicon import STOP_WORDS
from graphmem.text.quantities import NUMBER_NAMES, quantities

STEP_CHARACTERS = 600
"""Characters of a step that is said generally; longer ones are none."""

_FIGURE = r"(?:[$€£]\s?)?(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?(?:\s?/\s?\d+)?(?!\w*[-]\w)"
_NUMBER = re.compile(rf"(?P<figure>{_FIGURE})(?P<sign>\s?%)?|\b(?P<word>{'|'.join(NUMBER_NAMES)})\b", re.IGNORECASE)
_OF = re.compile(r"\b(?P<noun>[a-z]+)\s+(?:of|is|was|=)\s+$", re.IGNORECASE)
_STATES = re.compile(r"\b(?:is|was)\b|=", re.IGNORECASE)
_UNIT = re.compile(
    r"\s*(?!(?:more|less|i|we|you|he|she|it|they|so|then|and|or|by|from|to|of|in|on|at|for|with|is|was|are|were|gives?|gave|which|times|plus|minus|x)\b)"
    r"(?P<unit>[a-z]+(?:\s+(?!per\b|each\b|every\b|a\b)[a-z]+s(?=\b))?)"
    r"(?P<rate>\s+(?:per|each|every|a|an)\s+(?P<of>[a-z]+))?",
    re.IGNORECASE,
)
_RATE = re.compile(r"\s*(?:per|each|every|a|an|/)\s*(?P<of>[a-z]+)?", re.IGNORECASE)
_BESIDE = re.compile(r"\s*\([^()]*\d[^()]*\)")
_SUMS = re.compile(
    r"(?:[$€£]?\d[\d.,]*%?|\b[a-z]\b)(?:\s*[-−+*/x×÷]\s*[$€£(]?(?:\d[\d.,]*%?|\b[a-z]\b)\)?)+(?:\s*=\s*[$€£]?\d[\d.,]*\d)?"
    r"|=\s*[$€£]?\d[\d.,]*"
)
_GIVES = (
    r"(?:is|was|are|were|gives?|gave|leaves?|left|makes?|made|means?|equals?|comes? to|came to|costs?|will \w+"
    r"|would \w+)"
)
_RESULT = re.compile(
    rf"[,;]?\s*\b(?:which|this|that|and (?:this|that))\s+(?:now\s+)?{_GIVES}\b[^.!?;]*?\d[^,;!?]*"
    r"|(?<=[\w)])[,;]?\s+(?:so|and|then|and then)\s+(?:i|we|you|he|she|it|that|they|there|each)\b[^,;!?]*?"
    r"\b(?:(?<!to )gets?|got|(?<!to )gives?|gave|has|have|had|is|was|pays?|will|would|are|were|left)\b"
    r"[^.,;!?]*?\d[^,;!?]*"
    r"|[,;]?\s*\b(?:for|with|making|giving) an? (?:total|result|sum)\b[^.;!?]*"
    r"|[,;]?\s*\bto (?:get|give|make|find)\s+(?:[a-z]\b|[$€£]?\d[^,;!?]*?(?=$|[.,;!?]))",
    re.IGNORECASE,
)
_HANGING = re.compile(
    r"(?:[\s,;:=]+(?:so|which|that|this|it|is|was|are|be|gives?|gave|giving|us|me|them|equals?|or|and|then|to|get|got"
    r"|of|a|an|the|by|for|in|with|will|would|make|makes|from))+[\s.,]*$",
    re.IGNORECASE,
)
_SOME_OF = re.compile(r"\s*of (?:the |his |her |their |these |those )?(?:[a-z]+ )??(?P<unit>[a-z]+s)\b", re.IGNORECASE)
_VALUE = "="
_LEFT = re.compile(
    r"[\d=+]|\b[b-hj-zB-HJ-Z]\b|the amount\b.*\bthe amount\b|\bequation\b|\b(?:halves|thirds|quarters|[a-z]+ths)\b"
)
_BROKEN = re.compile(
    r"\bthe number of (?P<unit>\w+)\b(?:\W+\w+){0,2}\W+(?P=unit)\b|,? so (?:the )?\w+$|\b(?P<word>\w{4,}) (?P=word)\b",
    re.IGNORECASE,
)
_UNTOLD = re.compile(
    r"\b(?:add|subtract|multipl|divid|doubl|halv|deduct|tak)\w* (?:up |away |both of )?"
    r"(?:this|that|it|these|those|them|both)\b(?! [a-z]+s\b)",
    re.IGNORECASE,
)
OPERATION = re.compile(
    r"\b(?:i|we|you|to|by|i'm|i'd|we'd|i'll|we'll|then|and|first|next|finally|or)"
    r"(?: also| just| then| had to| needs? to| should| have| can| could| would| must| will| did| only| up| have to"
    r"| did not| not| mistakenly| accidentally){0,3}"
    r" (?:add|subtract|multipl|divid|doubl|halv|convert|round|compar|deduct|simplif|factor|expand|cancel|carr|borrow"
    r"|count|regroup|distribut)(?:s|es|ed|ing|ies|ied|y|ying|e|led|ling|d)?\b"
    r"|\b(?:i|we|to|by) t(?:ook|ake|aking) (?:away|off)\b",
    re.IGNORECASE,
)
"""A step of reckoning, named."""


def generalised(text: str, task: str = "") -> str:
    """A step of a solution without sums, and with each number by the part it plays in the text or the task.

    Parameters
    ----------
    text : str, a clause or two of a student
    task : str, the exercise's text; numbers that stand in it are named by it

    Returns
    -------
    str, empty where a step names numbers whose part is not told: it says nothing beyond its exercise

    Source: spec 7 (misconceptions and understanding are said generally).

    Examples
    --------
    >>> generalised("To get an average of 93 for six tests, I multiply 93 by 6, which gives me 558")
    'To get an average for the tests, I multiply the average by the number of tests'
    >>> generalised("Then I divided $6 by $1.5 per pound to get 4 pounds of candy")
    'Then I divided the amount by the price per pound'
    >>> generalised("I multiplied the rewards (4) by the price to get the total, so 4 x 1 = 4")
    'I multiplied the rewards by the price to get the total'
    >>> generalised("1/8 is bigger than 1/4 because 8 is bigger than 4")
    '1/8 is bigger than 1/4 because 8 is bigger than 4'
    """
    if len(text) > STEP_CHARACTERS:
        return ""
    text = re.sub(r"\s+", " ", _BESIDE.sub(" ", text)).strip()
    steps = [sentence for sentence in re.split(r"(?<=[.!?])\s+", text) if OPERATION.search(sentence)]
    if not steps:
        return text.strip(" ,;:")
    whole, text = text, steps[0]
    roles: dict[Fraction, str] = {}
    for part in (whole, task):
        for value, _, phrase, _, _ in _numbers(part):
            if phrase:
                roles.setdefault(value, phrase)
    text = _without_sums(_RESULT.sub("", text))
    made, done, parts = [], 0, dict[str, Fraction]()
    for value, _, phrase, said, (start, end) in _numbers(text):
        named = said or roles.get(value, "")
        if not named or named == _VALUE or parts.setdefault(phrase or named, value) != value:
            return ""
        made += [text[done:start], named]
        done = max(done, end)
    told = re.sub(r"\s+", " ", "".join([*made, text[done:]]))
    told = re.sub(r"\b(?:an?|the|some|about|another) (?=the\b)", "", told, flags=re.IGNORECASE)
    told = re.sub(r"\b(first|last|next|other|same|all|these|those|both) the\b", r"\1", told, flags=re.IGNORECASE)
    told = re.sub(r"\s+(?=[,.;])", "", _HANGING.sub("", told)).strip(" ,;:")
    return "" if _LEFT.search(told) or _UNTOLD.search(told) or _BROKEN.search(told) else told


def _without_sums(text: str) -> str:
    return _HANGING.sub("", re.sub(r"\s+", " ", _SUMS.sub(" ", text))).strip(" ,;:")


def _numbers(text: str) -> Iterator[tuple[Fraction, int, str, str, tuple[int, int]]]:
    """Each number: its value and place, its part in the text, what stands in its stead here, and the place of that."""
    for match in _NUMBER.finditer(text):
        found = quantities(match.group())
        if not found or (match["word"] and match["word"].lower() == "one"):
            continue
        value, start, end = found[-1].value, match.start(), match.end()
        before, after = _OF.search(text, max(0, start - 40), start), _UNIT.match(text, end)
        noun = before["noun"].lower() if before else ""
        if before and _STATES.search(text, before.end("noun"), start):
            yield value, start, f"the {noun}", _VALUE, (start, end)
        elif before and noun not in STOP_WORDS and noun not in ("total", "result", "answer", "number"):
            yield value, start, f"the {noun}", " ", (before.end("noun"), after.end() if after else end)
        elif match.group()[0] in "$€£":
            rate = _RATE.match(text, end)
            of_what = rate["of"] if rate else None
            phrase = f"the price per {of_what}" if of_what else "the amount"
            yield value, start, phrase, phrase, (start, rate.end() if rate and of_what else end)
        elif match["sign"]:
            yield value, start, "the percentage", "the percentage", (start, end)
        elif after and after["unit"].lower() not in STOP_WORDS:
            unit = after["unit"]
            rate_of = f" per {after['of']}" if after["rate"] else ""
            yield value, start, f"the number of {unit}{rate_of}", f"the {unit}{rate_of}", (start, after.end())
        elif some := _SOME_OF.match(text, end):
            yield value, start, f"the number of {some['unit']}", f"some of the {some['unit']}", (start, some.end())
        else:
            yield value, start, "", "", (start, end)
