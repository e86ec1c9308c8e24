"""Sentences that can be said by themselves: whole, plain, and of nobody who is addressed (spec 13)."""

import re
from collections.abc import Iterator
from itertools import pairwise

from graphmem.model import EntityKind
from graphmem.text.doc import Doc
from graphmem.text.lexicon import KIN, TIME_WORDS, WEEKDAYS
from graphmem.text.references import FINITE, FOLLOWS_VERB, is_finite, is_whole, source_of
from graphmem.text.retelling import without_asides
from graphmem.text.stems import is_bare_verb, is_past
from graphmem.text.words import is_known, parts, word_rarity

SENTENCE_WORDS = 4
"""Words of a sentence that tells something."""
QUOTED_WORDS = 3
"""Words of what can be quoted."""
NOT_RARE = 3.3
"""Rarity (`word_rarity`) below which a word that is no name is written small."""

COMPOUND_LETTERS = 4
"""Letters of each of two words that are written as one, at least."""

_RELATIVE = frozenset({"that", "who", "which"})
_LEANING = frozenset({"it", "it's", "they", "they're", "he", "he's", "she", "she's"})
"""Words that a sentence begins with which tells more of what the one before it names."""
_NAMED = re.compile(r" [A-Z][a-z]+\b")
"""What follows the first word of a name of several."""
_EXCLAIMED = re.compile(r"!+$")
_BRACKETS = re.compile(r"\s*\[[^\]]*(?:\]|$)")
"""What was shown with a message, also where its end is cut off: no part of a sentence."""
_PICTURES = re.compile(r"[^\w\s.,;:!?'\"()\[\]%€$£¥°+*/=<>×÷–—…“”‘’&#-]+")
_SECOND_PERSON = re.compile(r"\b(?:you|your|yours|yourself|you're|you've|you'll|let's|y'all)\b", re.IGNORECASE)
_FIRST_PERSON = re.compile(r"\b(?:I|I'm|I've|I'll|I'd|my|we|we're|our|us|me)\b")
_OWN_START = re.compile(r"(?:I|my|our|there's)\b", re.IGNORECASE)
_REPORTED = re.compile(r"(?P<says>says|thinks)(?: that |: )(?P<told>.*)", re.DOTALL)
_ANSWERS = re.compile(r"^Asked “[^”]*”: ")
_CALLED = re.compile(r"^(?:[A-Z]\w+[,!] )|,? (?<!and )(?<!or )(?<=, )[A-Z][a-z]+(?=[.!]?$)")
"""A name that is called at the beginning or the end of a sentence."""
_OPENS = frozenset(
    """
    a an the his her their some many most all both each every another one two three four five several no
    """.split()  # noqa: SIM905
)
"""Words that a subject other than the student may begin with."""
_LEADS = frozenset(
    """
    in on at during after before since when while for from by with because although if
    """.split()  # noqa: SIM905
)
"""Words that what stands before the subject may begin with."""
_ADDS = r"(?:also|even|just|already)"
"""Words by which a sentence hangs on the one before it."""
_PASSED = re.compile(
    r"\b(?:ago|yesterday|today|tonight|tomorrow|(?:last|next|this|the past|the next) (?:\w+ )?(?:week|month|year|night|"
    rf"weekend)s?|(?:last|next|this) (?:{'|'.join(WEEKDAYS)})|"
    r"(?:last|next|they) (?:spoke|talked|chatted|chat|talk)|the other day)\b",
    re.IGNORECASE,
)
"""Times reckoned from a day that is not told."""
_BROKEN_OFF = re.compile(
    r"\b(?:of|to|for|with|at|from|than|and|or|the|an?|a few|some)[.!]?$|, (?:and )?(?:take|look|check)\b", re.IGNORECASE
)
"""Signs of a sentence that is not whole."""
_VAGUE = re.compile(r"\bsomething\b(?! (?:that|who|which|called|named)\b)", re.IGNORECASE)
_SEGMENT = re.compile(r" [-–—] |; |, but ")
_FOR_ALL = re.compile(
    r"\bwe(?:'ve)? (?:all|both|can|could|should|must|need|have to|gotta|got to)\b"
    r"|\b(?:both|all) of us\b|\bus (?:all|both)\b"
)
_US = re.compile(r"\bus\b", re.IGNORECASE)
_WE, _ALONE = (re.compile(rf"\b(?:{who})\b", re.IGNORECASE) for who in ("we", "I|I'm|I've|I'll|I'd"))
_OF_THEM = {"we": "they", "ours": "theirs", "ourselves": "themselves"}
_OF_THEM |= dict.fromkeys(("my", "our"), "their") | dict.fromkeys(("us", "me"), "them")
_OURS = re.compile(rf"\b(?:{'|'.join(_OF_THEM)})\b")
_ALONG = " and others"
"""What stands behind somebody's name where others did it, too."""
_UNNAMED = re.compile(
    r"\bthe (?:(?!(?:of|to|in|at|on|for|with|from|by|that|who)\b)[a-z'-]+ ){0,2}?[a-z'-]+"
    r"(?=[.,;:!?]|$| [–—-]| (?:and|but|or|so|when|while|because|since)\b)"
    rf"|{_ALONG} (?:are|have|all|both)\b|\b(?:is|are|was|were) (?:more|less)\b(?!.*\bthan\b)|\bthe same\b(?!.*\bas\b)"
    r"|\benough[.!]?$"
)
"""What a hearer may know or not: "the castles", others, what is compared with what is not told."""
_OF_THE_MOMENT = re.compile(r"\b(?:currently|right now|at the moment|still)\b|\bnow[.!]?$")
"""What may be over when it is read."""
_LEAD_IN = re.compile(r"(?:(?:In|At|On|During) the \w+|On (?:an?|another)(?: \w+)? note), ")
"""Of a time or place that was named before."""
_CALLS_OUT = re.compile(r"(?:\w+|for example)[,!] ")
_NEXT_VERB = re.compile(r"(?:,(?: and)?|\band) (?:also |just )?(?P<verb>[a-z]+)\b")
_LEAVES_BARE = re.compile(
    r"\b(?:to|can|could|will|would|should|might|may|must|lets?|helps?|don't|doesn't|didn't|they|who|that|and others)\b"
)
"""Words after which a verb has no ending."""
_OWN = frozenset({"they", "them", "their", "theirs", "themselves", "they're", "they've", "they'd", "they'll"})
"""Words for whom it is reported of."""
_SAYS = re.compile(r"(?:asks|says|said|thinks)\b")


def sayable(statement: str, words: str | None, subject: str) -> Iterator[tuple[str, str]]:
    """What of a statement can be said by itself: sentences, and each again with one after it that tells more of it.

    Parameters
    ----------
    statement : about somebody, in the third person
    words : it comes from, where they are known
    subject : whom it speaks of

    Returns
    -------
    of (sentence, the one after it, or ""); a sentence has a subject and a verb, is no question, addresses nobody,
    tells no time from the day it was said, and names all that it points at

    Examples
    --------
    >>> list(sayable("Mia even has a dog! It barks at cats. Do you like it?", None, "Mia"))
    [('Mia has a dog.', ''), ('Mia has a dog.', 'It barks at cats.')]
    >>> list(sayable("Mia fed it yesterday. That was so good of Mia.", None, "Mia"))
    []
    """
    head = ""
    for plain in tidied_sentences(statement, subject):
        plain = _of_each(plain, words, subject)
        if not is_said_plainly(plain):
            head = ""
        elif has_subject(plain, subject) and is_whole(plain, subject, words) and not is_for_all(plain, words):
            head = plain
            yield head, ""
        else:
            if head and leans(plain) and is_whole(f"{head} {plain}", subject, words):
                yield head, plain
            head = ""


def is_doubtful(sentence: str) -> bool:
    """True if a sentence may point at what a hearer does not know, or is of the moment or misspelt.

    Examples
    --------
    >>> [is_doubtful(f"Mia {each}.") for each in ("saw the castles", "saw the castles of Wales", "reccomends books")]
    [True, False, True]
    """
    plain = [word for token in Doc(sentence).tokens if token.text.islower() for word in parts(token.text)]
    unfit = any(sign.search(sentence) for sign in (_UNNAMED, _OF_THE_MOMENT))
    return unfit or not all(map(_is_spelt, plain))


def _is_spelt(word: str) -> bool:
    """True if an English word is known, or made of two that are."""
    places = range(COMPOUND_LETTERS, len(word) - COMPOUND_LETTERS + 1)
    return is_known(word) or any(is_known(word[:i]) and is_known(word[i:]) for i in places)


def _of_each(sentence: str, words: str | None, subject: str) -> str:
    """A sentence; one of what "we" did told of others, too, and empty where it cannot be said of them."""
    if words is None or not sentence.startswith(f"{subject} "):
        return sentence
    said = source_of(sentence, words)
    if _WE.search(said.text) is None or _ALONE.search(said.text) is not None or _ALONG in sentence:
        return sentence
    rest = sentence[len(subject) + 1 :]
    if is_past(next(iter(Doc(rest).plain_words), "")):
        return f"{subject}{_ALONG} {'were' + rest[3:] if rest.startswith('was ') else rest}"
    own = without_asides(said.text)
    if not own.startswith("We ") or len(said.sentences) > 1 or _PASSED.search(own):
        return ""
    theirs = _OURS.sub(lambda match: _OF_THEM[match.group()], own.removeprefix("We"))
    return f"{subject}{_ALONG}{theirs}"


def leans(sentence: str) -> bool:
    """True if a sentence begins with a word for what the one before it names, and so tells more of that.

    Examples
    --------
    >>> leans("It barks."), leans("Then it barks.")
    (True, False)
    """
    return not _LEANING.isdisjoint(Doc(sentence).plain_words[:1])


def points_back(sentence: str) -> bool:
    """True if a sentence has a word for somebody or something, and names nobody.

    Examples
    --------
    >>> points_back("How many friends can she invite?"), points_back("If Ann has 9, how many does she need?")
    (True, False)
    """
    doc = Doc(sentence)
    return not _LEANING.isdisjoint(doc.plain_words) and not doc.entities


def tidied_sentences(statement: str, subject: str) -> list[str]:
    """The sentences of a statement about somebody, each as it is read out by itself.

    Examples
    --------
    >>> tidied_sentences("Mia even has a dog! Bo, it barks too.", "Mia")
    ['Mia has a dog.', 'It barks.']
    """
    text = re.sub(rf" [-–—] (?={re.escape(subject)} )", ". ", plainly(_ANSWERS.sub("", statement)))
    return [_tidied(uncalled(sentence.text.strip()), subject) for sentence in Doc(text).sentences]


def is_for_all(sentence: str, words: str | None) -> bool:
    """True if it was said of what "we" all can or should do, or of what is good for "us": no fact about one of them.

    Examples
    --------
    >>> is_for_all("Ann should fight for parks.", "We should fight for parks.")
    True
    >>> is_for_all("Ann says that a break helps them relax.", "A break helps us relax.")
    True
    """
    if words is None:
        return False
    said = source_of(sentence, words)
    of_us = _US.search(said.plain) is not None and _FIRST_PERSON.search(_US.sub("", said.text)) is None
    return of_us or _FOR_ALL.search(said.plain) is not None


def quotable(words: str) -> Iterator[tuple[str, bool]]:
    """Sentences of what somebody said that address and ask nobody, without how they lead in.

    Returns
    -------
    of (sentence, whether it names all that it points at, as far as rules can tell)

    Examples
    --------
    >>> list(quotable("Thanks, Ann! My relationships feel more genuine now. They do help me. Do you see?"))
    [('My relationships feel more genuine now.', True), ('They do help me.', False)]
    """
    for sentence in Doc(plainly(words)).sentences:
        plain = without_asides(uncalled(sentence.text.strip()))
        told = len(Doc(plain).words) >= QUOTED_WORDS and not plain.endswith(("?", ":")) and "“" not in plain
        if told and _SECOND_PERSON.search(plain) is None:
            plain = f"{plain[:1].upper()}{plain[1:]}"
            whole = _OWN_START.match(plain) is not None or _has_own_verb(plain)
            whole &= _BROKEN_OFF.search(plain) is None and _WE.search(plain) is None
            yield plain, whole and is_whole(plain, "I", plain)


def reckons_from_then(sentence: str) -> bool:
    """True if a sentence names a time reckoned from the day on which it was said, or that day.

    Examples
    --------
    >>> reckons_from_then("We met last Friday."), reckons_from_then("We meet on Fridays.")
    (True, False)
    """
    return any(sign.search(sentence) for sign in (_PASSED, _OF_THE_MOMENT))


def plainly(text: str) -> str:
    """A text without pictures and without what was shown with it."""
    return _PICTURES.sub(_ended_before, _BRACKETS.sub("", text))


def _ended_before(picture: re.Match[str]) -> str:
    """What stands for a picture: where a sentence follows, the end of one."""
    text, (start, end) = picture.string, picture.span()
    return "." if text[:start].rstrip()[-1:].isalnum() and text[end:].lstrip()[:1].isupper() else ""


def uncalled(sentence: str) -> str:
    """A sentence without the name of whom it calls."""
    text = _CALLED.sub(lambda m: m.group() if m.start() and _is_place(m.group().strip(" ,!")) else "", sentence)
    text = text.strip(" ,")
    return f"{text[:1].upper()}{text[1:]}"


def _is_place(name: str) -> bool:
    """True if a name by itself is a place's: "my home country, Sweden" calls nobody."""
    return any(each.kind is EntityKind.PLACE for each in Doc(f"I saw {name}.").entities)


def is_said_plainly(sentence: str) -> bool:
    """True if a sentence tells something, of somebody who is not addressed, in the third person.

    Examples
    --------
    >>> [is_said_plainly(each) for each in ("Mia has a dog.", "Has Mia got a dog?", "Mia fed your dog yesterday.")]
    [True, False, False]
    """
    asks = sentence.rstrip("\"'”’) ").endswith("?")
    unfit = (_SECOND_PERSON, _FIRST_PERSON, _PASSED, _BROKEN_OFF, _VAGUE)
    return len(Doc(sentence).words) >= SENTENCE_WORDS and not asks and not any(sign.search(sentence) for sign in unfit)


def _is_clause(told: str) -> bool:
    """True if what is reported is a whole clause: "Wow, that's great" is none."""
    return _has_own_verb(told) and not _is_bare(told) and _CALLS_OUT.match(told) is None


def _is_bare(clause: str) -> bool:
    """True if it is not said which one a clause speaks of: "the posters were great"."""
    first, *rest = Doc(clause).plain_words
    return first == "the" and len(rest) > 1 and is_finite(*[*rest, ""][1:3])


def _has_own_verb(clause: str) -> bool:
    """True if a clause has a finite verb and something before it."""
    words = Doc(_SEGMENT.split(clause)[0]).plain_words
    verb = next((i for i, pair in enumerate(pairwise([*words, ""])) if is_finite(*pair)), None)
    lacks_subject = verb == 1 and (words[0].endswith("ly") or re.fullmatch(_ADDS, words[0]) is not None)
    if (verb and words[verb - 1] in _RELATIVE) or not words or lacks_subject:
        # "Invest in a blanket that has some weight": the verb is not the sentence's own.
        return False
    # "Glad to hear that": who is glad is left out.
    return bool(verb) and words[1] != "to" and not (words[1] in FOLLOWS_VERB and not words[0].endswith("ing"))


def has_subject(sentence: str, subject: str) -> bool:
    """True if a sentence begins with the subject, with when or where the subject did it, or with another subject.

    Examples
    --------
    >>> [has_subject(each, "Mia") for each in ("Mia has a dog.", "In June Mia was ill.", "Mia says that chasing it.")]
    [True, True, False]
    >>> has_subject("Mia says that weddings are full of joy.", "Mia")
    False
    """
    if re.search(rf"\b(?<!and ){re.escape(subject)} (?:were|are|have)\b", sentence):
        # It was said of several.
        return False
    if sentence.startswith(f"{subject} "):
        told = _REPORTED.match(sentence, len(subject) + 1)
        # "says that love the colours": what was no clause does not become one.
        if told is None:
            return _SAYS.match(sentence, len(subject) + 1) is None and not _disagrees(sentence)
        return _is_clause(told["told"]) and _is_of_somebody(told["told"], subject)
    if sentence.startswith(f"{subject}'s "):
        return _has_own_verb(sentence.split(",")[0])
    first = Doc(sentence).plain_words[0]
    lead = re.match(rf"[A-Z][^,.;:]{{2,40}}(?P<comma>,)? {re.escape(subject)}(?:'s)? ", sentence)
    when = first in _LEADS or (lead is not None and lead["comma"] and (first.endswith("ly") or first in TIME_WORDS))
    if lead is not None and when:
        return not any(word in FINITE for word in Doc(lead.group().removesuffix(f"{subject} ")).plain_words)
    named = any(sentence.startswith(f"{each.name} ") for each in Doc(sentence).entities)
    doing = first.endswith("ing") and subject in sentence
    return (first in _OPENS or named or doing) and _has_own_verb(sentence) and not _is_bare(sentence)


def _is_of_somebody(told: str, subject: str) -> bool:
    """True if what is reported speaks of who says it, of relatives, or of what has a name: no view at large."""
    doc = Doc(told)
    own = {*_OWN, *subject.casefold().split()}
    return not own.isdisjoint(doc.terms) or not KIN.isdisjoint(doc.plain_words) or bool(doc.entities)


def _disagrees(sentence: str) -> bool:
    """True if a verb after the subject's is none of a single person's: "Mia dances, sing and have fun"."""
    bare = next((each for each in _NEXT_VERB.finditer(sentence) if is_bare_verb(each["verb"])), None)
    return bare is not None and _LEAVES_BARE.search(sentence[: bare.start()]) is None


def _tidied(sentence: str, subject: str) -> str:
    """A sentence as it is read out by itself: it hangs on none before it, and nothing is exclaimed."""
    own = re.escape(subject)
    sentence = re.sub(rf"^{_LEAD_IN.pattern}(?={own}\b)", "", sentence)
    sentence = re.sub(rf"^({own} (?:(?:is|was|has|had|will|would|can|could) )?){_ADDS} ", r"\1", sentence)
    sentence = re.sub(r",? (?:too|as well|though|btw)(?=[.!]*$)", "", sentence)
    reported = re.match(rf"({own} (?:says|thinks))(?: that |: )([A-Za-z']+)\b", sentence)
    if reported is not None:
        word, rest = reported[2], sentence[reported.end() :]
        names = {part for each in Doc(f"{word}{rest}").entities for part in each.name.split()}
        is_name = word in names or _NAMED.match(rest) is not None
        if not is_name and word != subject and word_rarity(word) < NOT_RARE:
            word = word.lower()
        sentence = f"{reported[1]} that {word}{rest}"
    # Named once it is known whose it is.
    first = re.match(rf"{own}(?:'s)?\b", sentence)
    if first is not None:
        rest = re.sub(rf"\bof {own}'s(?= \w+ed\b|[.,;!?]|$)", "of theirs", sentence[first.end() :])
        sentence = first.group() + re.sub(rf"\b{own}'s\b", "their", rest)
    return _EXCLAIMED.sub(".", sentence)
