"""Revision: the effect of a new statement on an older one of the same person (spec 7).

Meaning alone cannot tell same from opposite. A statement is ended for a reason that can be named (another value of one
attribute, the opposite of it, an end that is told in words, a plan carried out, a misconception overcome), unless the
network that reads both (`graphmem.text.ending`) finds that unlikely, or where that network is sure.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from difflib import get_close_matches
from enum import StrEnum
from functools import cached_property

import numpy as np

from graphmem.model import SHOWN_AT_WORK, Aspect, Vector
from graphmem.text.clauses import leans, statement_spans
from graphmem.text.comparisons import is_mended, stated_comparisons
from graphmem.text.contradiction import load_contradiction_network
from graphmem.text.doc import Doc
from graphmem.text.ending import ended_chance
from graphmem.text.language import ENGLISH, language_of
from graphmem.text.lexicon import MONTHS, WEEKDAYS, is_negation
from graphmem.text.pairs import Compared, Likeness, likeness
from graphmem.text.slots import changes_rarely, holds_one_value, is_polar, slot_of
from graphmem.text.stems import is_past
from graphmem.text.time_ranges import day_ahead
from graphmem.text.words import is_known

ONE_MATTER = 0.45
"""Cosine from which two statements may be about one matter."""
OVERCOME = 0.6
"""Cosine from which an understanding overcomes a misconception of an earlier lesson."""
TWINS_FROM = ((0.7, 0.8), (0.87, 0.6))
"""Cosine, and share of the content words of the shorter one, from which two statements may say the same."""
TOUCHING = 0.3
"""Cosine that two statements about one matter need, beside the words they share."""
REPEATED = 0.75
"""Cosine from which two steps of one lesson, both wrong or both right, are one."""
SAME_TALK = timedelta(hours=6)
"""Time within which a misconception shown and an understanding reached are of one lesson."""
_NOTHING: Vector = np.zeros(1, dtype=np.float32)
SURELY_ENDED, ENDED_COSINE = 0.9, 0.3
"""Chance from which a statement is ended though no reason can be named, and cosine that two without a word in common
then need: of forty that end (`tests/data/endings.jsonl`) none is farther."""
DOUBTED_ENDED, OPPOSED_ENDED, OPPOSED_COSINE = 0.01, 0.7, 0.5
"""Chance from which a statement is ended where the contradiction network finds it ended by a chance of so much, of two
with a word in common that are so near or name one thing: so 8 more of 7,260 held-out pairs end, and two that hold."""
LEAST_CLASH = 0.15
"""Chance that the contradiction network then finds at least that both cannot be so at one time."""
SHORT_MESSAGE = 3
"""Sentences of a message that is asked about beside each of its clauses."""
JOINTS = (" and ", " but ", "; ")
"""What joins two statements in one sentence."""
PART_WORDS = 3
"""Fewest words of a statement that is joined with another."""
FEW_SENTENCES = 2
"""Sentences of statements that are so compared: what ends one of many does not end the others."""
UNLIKELY_ENDED = 0.002
"""Chance below which it is not ended, whatever reason there seems to be; chosen, as `DONE_ENDED`, with labelled talk
(`bench formation`) in view: the network hardly knows of pets and of plans that were carried out."""
STILL_HELD = 0.6
"""Share of the chance that one part of a statement has ended, below which the other part is still held."""
RATHER_ENDED = 0.5
"""Chance from which a message that tells of an end takes back a belief, before anything is formed of it."""
DONE_ENDED = 0.1
"""Chance from which a plan is ended where it is only told that something happened."""
TOLD_AGAIN = 0.6
"""Share of their words by which what happened is what was planned."""
CHANGE_OF_MIND = timedelta(days=60)
"""Time after which the opposite of what was liked or could be done is taken for a change, said or not."""
GENERAL_STEMS = 1
"""Content words that two statements about one matter share at least."""

MISSPELT = 0.85
"""Likeness from which an unknown word is a known one of the other statement, misspelt."""
NEGATED_WITHIN = 2
"""Words before an end within which it is denied."""

_DATE_STEMS = Doc(
    " ".join((*MONTHS, *WEEKDAYS, "today tomorrow yesterday week month year time thing remember ask"))
).stems
_CEASED = re.compile(
    r"\b(?:(?P<denied>any ?more)|no longer|stopped|quit|gave up|given up|forget (?:that|it|about)|after all|cancelled|"
    r"called off|changed my mind|don't .{0,30}now|isn't .{0,20}now|is over|broke up|got rid of|sold (?:the|my|our))\b",
    re.IGNORECASE,
)
_MOVED = re.compile(
    r"\b(?:moved to|postponed|put off|brought forward|now on|instead of|rescheduled|changed to)\b", re.IGNORECASE
)
_CORRECTED = re.compile(
    r"\b(?:i meant|meant to say|sorry,? (?:i|it|my|not)|oops|my mistake|i lied|not true"
    r"|mixed up|i was wrong|it's actually|"
    r"actually it'?s)\b",
    re.IGNORECASE,
)
_EASED = re.compile(
    r"\b(?:better|lighter|fine (?:now|again)|ok(?:ay)? now|again|finally"
    r"|not .{0,20}any ?more|good now|sorted|calmer)\b",
    re.I,
)
_BEING = frozenset(("was", "were", "had", "felt"))
"""Past verbs that tell a state."""
_NOW = re.compile(
    r"\b(?:now|these days|nowadays|lately|since|used to|suddenly|new|started|changed|switched|moved)\b", re.IGNORECASE
)
USED_TO = re.compile(r"\bused to (?!it\b|this\b|that\b|the\b)", re.IGNORECASE)
"""Of what was so and is no more."""
_DISLIKES = re.compile(r"\b(?:hate|dislike|loathe|detest)s?d?\b", re.IGNORECASE)
_PLANS = re.compile(
    r"(?:^(?:\w+ ){1,2}|\bthey |, )(?:still |just )?(?:will|must|mustn't|(?:wants?|has|have|needs?) to)\b"
    r"|\b(?:'ll|(?:is|are) going to|gonna|plans?|planning|promises?|promised|owes?|until|asks|remind|hasn't told"
    r"|don't know|doesn't know|test|exam|final)\b",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"\b(?:did it|handed in|paid|told|read it|finished|done|went (?:ok|well|fine)|knows? now|passed|failed)\b", re.I
)


class Effect(StrEnum):
    """Effect of a new statement on an older one."""

    NONE = "none"
    SAME = "same"
    REFINES = "refines"
    ENDS = "ends"
    CORRECTS = "corrects"
    OUTDATES = "outdates"
    CONTRADICTS = "contradicts"


def holds_several(content: str) -> bool:
    """Return whether a memory's content is several statements, such as a whole message that was observed.

    A sentence that leans on the one before it is no other statement.

    Examples
    --------
    >>> holds_several("I sold the Honda."), holds_several("That was great! I sold the Honda.")
    (False, True)
    >>> holds_several("Emil is moving away. He's my best friend.")
    False
    """
    return len(statement_spans(Doc(content))) > 1


@dataclass(frozen=True)
class Revisable:
    """A statement as it is compared with others of the same person.

    content, words : the statement, and the words it comes from
    vector : embedding of the statement
    message : the whole message, of a new one
    """

    content: str
    words: str
    at: datetime
    aspect: Aspect | None = None
    slot: str | None = None
    valence: float = 0.0
    vector: Vector | None = field(default=None, repr=False)
    message: str = field(default="", repr=False)

    @cached_property
    def told(self) -> tuple[Doc, ...]:
        """Statements of its words that ask nothing."""
        doc = Doc(self.words)
        found = (Doc(doc.text[slice(*span)]) for span in statement_spans(doc))
        return tuple(each for each in found if not each.text.endswith("?")) or (doc,)

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of its content words, without days and months."""
        return frozenset[str]().union(*(each.stems for each in self.told)) - _DATE_STEMS

    def on_matter_of(self, other: "Revisable") -> str:
        """The statements of its words that have a content word in common with another statement."""
        return " ".join(each.text for each in self.told if not each.stems.isdisjoint(other.stems))

    @cached_property
    def is_several(self) -> bool:
        """True of several statements in one, such as a whole message that was observed."""
        return holds_several(self.content)

    @cached_property
    def plans(self) -> bool:
        """True if it tells what is to come, is owed or is kept secret."""
        return self.aspect is Aspect.PLAN or _PLANS.search(self.content) is not None

    @cached_property
    def compared(self) -> Compared:
        """It as pairs are compared."""
        return Compared(Doc(self.content), self.vector if self.vector is not None else _NOTHING, self.valence)


def effect(new: Revisable, old: Revisable, cosine: float) -> Effect:
    """The effect of a new statement on an older one of the same person.

    Parameters
    ----------
    new, old : Revisable, the older one still held true
    cosine : float, of their embeddings

    Returns
    -------
    Effect; the older one is closed where it is ended (life has changed) or corrected (it was wrong), but not where it
    holds several statements, unless both are about one attribute; of two statements joined in one sentence that of
    which only one ends is outdated; where the newer one denies it without a word of change, and soon, neither can be
    believed over the other

    Source: spec 7, 12.
    """
    if _overcomes(new, old, cosine):
        return Effect.ENDS
    new, old = _respelt(new, old), _respelt(old, new)
    found = _by_reason(new, old, cosine)
    if found not in (Effect.ENDS, Effect.CORRECTS) or _is_work(new) or _is_work(old):
        return found
    # Another value of one attribute needs no other reason: "what is so now".
    one_slot = new.slot is not None and new.slot == old.slot
    # What ends one of several statements does not end the others.
    if not one_slot and (old.is_several or not _may_have_ended(new, old)):
        return Effect.NONE
    return Effect.OUTDATES if _outdates(new, old) else found


def surely_ended(new: Revisable, old: Revisable) -> tuple[float, Effect]:
    """The chance that a new statement ends an older one where the networks that read both are so sure of it that no
    rule may say *same* or *nothing*, and whether all of it ends; (0, none) where they are not.

    Parameters
    ----------
    new, old : Revisable, the older one still held true
    """
    long = any(len(Doc(each.content).sentences) > FEW_SENTENCES for each in (new, old))
    if long or old.at >= new.at or new.words == old.words or _is_work(new) or _is_work(old):
        return 0.0, Effect.NONE
    if not new.stems & old.stems and _nearness(new, old) < ENDED_COSINE:
        return 0.0, Effect.NONE
    said = Doc(new.words)
    if language_of(new.words) != ENGLISH or 2 * len(said.numbers) >= len(said.words):
        # Of a step of a sum, or of another language, the networks know nothing (spec 7).
        return 0.0, Effect.NONE
    chance = ending_chance(new, old)
    near = _nearness(new, old) >= OPPOSED_COSINE or not _names(new).isdisjoint(_names(old))
    one_matter = near and not new.stems.isdisjoint(old.stems)
    if chance < (DOUBTED_ENDED if one_matter else SURELY_ENDED):
        return 0.0, Effect.NONE
    readings = load_contradiction_network().read([(old.words, text) for text in _asked_words(new)])
    # What is only said again, with more to it, is taken for an end by one of the two networks.
    agreed = max(each.clash for each in readings) >= LEAST_CLASH
    if not (agreed if chance >= SURELY_ENDED else max(each.ended for each in readings) >= OPPOSED_ENDED):
        return 0.0, Effect.NONE
    return chance, Effect.OUTDATES if _outdates(new, old) else Effect.ENDS


def _nearness(new: Revisable, old: Revisable) -> float:
    """Return the cosine of two statements; 1 where it is not known."""
    return 1.0 if new.vector is None or old.vector is None else float(new.vector @ old.vector)


def ending_chance(new: Revisable, old: Revisable) -> float:
    """The chance that an older statement has ended, by the new one's words or its whole message, if that is short.

    Parameters
    ----------
    new, old : Revisable

    Returns
    -------
    float in (0, 1); own words are compared, which the network knows far better than what was made of them
    """
    return max(ended_chance(text, old.words) for text in _asked_words(new))


def _asked_words(new: Revisable) -> tuple[str, ...]:
    """A statement's words as the networks are asked about them: alone, and with the message that they stand in."""
    whole = new.message if len(Doc(new.message).sentences) <= SHORT_MESSAGE else ""
    return tuple(dict.fromkeys((new.words, whole or new.words)))


def _may_have_ended(new: Revisable, old: Revisable) -> bool:
    """True if an older statement may have ended, for the reason that was found."""
    done = _DONE.search(new.on_matter_of(old)) is not None or _shared(new, old) >= TOLD_AGAIN
    told = done or not _carried_out(new, old) or _says_end(new, old)
    return ending_chance(new, old) >= (UNLIKELY_ENDED if told else DONE_ENDED)


def _outdates(new: Revisable, old: Revisable) -> bool:
    """True if only one of two statements that an older one joins has ended; what leans on the first ends with it."""
    for parts in (old.words.split(joint, 1) for joint in JOINTS if joint in old.words):
        if min(len(part.split()) for part in parts) < PART_WORDS:
            continue
        first, second = (ended_chance(new.words, part) for part in parts)
        if first >= second and leans(Doc(parts[1])):
            continue
        if max(first, second) >= RATHER_ENDED and min(first, second) < STILL_HELD * max(first, second):
            return True
    return False


def may_take_back(text: str) -> bool:
    """True if a text has a word by which something ends or is put right, or compares two numbers rightly.

    Examples
    --------
    >>> may_take_back("I don't hate decimals any more."), may_take_back("So 1/4 is bigger than 1/8.")
    (True, True)
    >>> may_take_back("My favourite colour is teal now.")
    False
    """
    ends = _CEASED.search(text) is not None or _CORRECTED.search(text) is not None
    return ends or any(each.holds for each in stated_comparisons(text))


def takes_back(new: Revisable, old: Revisable, cosine: float) -> bool:
    """True if a message overcomes a misconception, or tells in words that an older belief ended or was wrong.

    Another value of one attribute (a new favourite), a plan carried out and a mood that passes take back nothing.

    Parameters
    ----------
    new, old : Revisable, the older one a belief that is still held true
    cosine : float, of their embeddings

    Source: spec 5.
    """
    corrects = _CORRECTED.search(new.words) is not None
    if old.aspect is Aspect.MISCONCEPTION:
        return is_mended(old.words, new.words) or (corrects and cosine >= OVERCOME)
    one_slot = new.slot is not None and new.slot == old.slot
    another_value = one_slot and holds_one_value(new.slot or "")
    if old.aspect is not None or not (corrects or (_says_end(new, old) and not another_value)):
        return False
    ends = effect(new, old, cosine) in (Effect.ENDS, Effect.CORRECTS)
    return ends and (one_slot or ending_chance(new, old) >= RATHER_ENDED)


def _by_reason(new: Revisable, old: Revisable, cosine: float) -> Effect:
    """The effect of a new statement for a reason that can be named."""
    shared = new.stems & old.stems
    if _is_work(new) or _is_work(old):
        again = cosine >= REPEATED and abs(new.at - old.at) <= SAME_TALK
        return Effect.SAME if new.aspect is old.aspect and (again or _twins(new, old, cosine)) else Effect.NONE
    if new.slot is not None and new.slot == old.slot and (found := _of_one_slot(new, old)) is not None:
        return found
    if len(shared) < GENERAL_STEMS or cosine < TOUCHING:
        return Effect.NONE
    if _carried_out(new, old) and (cosine >= ONE_MATTER or len(shared) > GENERAL_STEMS):
        return Effect.ENDS
    if _says_end(new, old) and (cosine >= ONE_MATTER or len(shared) > GENERAL_STEMS):
        return Effect.ENDS
    if _twins(new, old, cosine):
        return Effect.REFINES if _says_more(new, old) else Effect.SAME
    if _CORRECTED.search(new.on_matter_of(old)) and cosine >= ONE_MATTER:
        return Effect.CORRECTS
    return Effect.ENDS if _eased(new, old) and cosine >= ONE_MATTER else Effect.NONE


def _respelt(told: Revisable, other: Revisable) -> Revisable:
    """A statement spelt so that it fills the polar slot of another, if it can be: "im alergic to nuts"."""
    if told.slot is not None or other.slot is None or not is_polar(other.slot):
        return told
    spelt = Doc(other.words).plain_words
    words = " ".join(each if is_known(each) else _nearest_word(each, spelt) for each in Doc(told.words).plain_words)
    return replace(told, slot=other.slot, words=words) if slot_of(Doc(words)) == other.slot else told


def _nearest_word(word: str, spelt: Sequence[str]) -> str:
    return next(iter(get_close_matches(word, spelt, 1, MISSPELT)), word)


def _overcomes(new: Revisable, old: Revisable, cosine: float) -> bool:
    """A misconception of the same lesson, or of the same matter, that is understood now."""
    if new.aspect is not Aspect.UNDERSTANDING or old.aspect is not Aspect.MISCONCEPTION:
        return False
    if is_mended(old.words, new.words) or abs(new.at - old.at) <= SAME_TALK:
        return True
    return cosine >= OVERCOME and not new.stems.isdisjoint(old.stems)


def _is_work(told: Revisable) -> bool:
    return told.aspect in SHOWN_AT_WORK


def _shared(new: Revisable, old: Revisable) -> float:
    """Share of the content words of the shorter one that both have."""
    return len(new.stems & old.stems) / max(1, min(len(new.stems), len(old.stems)))


def _twins(new: Revisable, old: Revisable, cosine: float) -> bool:
    """Two statements that say the same: nothing parts them, they share most words, the new one has no new name."""
    if not _names(new) <= _names(old) | old.stems:
        return False
    near = any(cosine >= least and _shared(new, old) >= words for least, words in TWINS_FROM)
    return near and likeness(new.compared, old.compared) is Likeness.SAME


def _of_one_slot(new: Revisable, old: Revisable) -> Effect | None:
    assert new.slot is not None  # callers only
    if new.compared.folded == old.compared.folded:
        return Effect.SAME
    was, new_was = (USED_TO.search(each.words) is not None for each in (old, new))
    if was or new_was:
        # What was so ends what is told of it as so, and says nothing of anything else.
        ends = new_was and not was and _value_words(old) <= _value_words(new)
        return Effect.ENDS if ends else Effect.NONE
    if is_polar(new.slot):
        if _is_against(new) == _is_against(old):
            return Effect.SAME
        # Where a no stands beside the matter ("so I can't have the cake") the networks may be surer than the slot.
        unclear = old.compared.denies and not _filling(old).negates
        ends = _is_change(new, old) or (unclear and surely_ended(new, old)[1] is Effect.ENDS)
        return Effect.ENDS if ends else Effect.CONTRADICTS
    if not holds_one_value(new.slot):
        return None
    if _value_words(new) == _value_words(old):
        return Effect.SAME
    if _CORRECTED.search(new.words):
        return Effect.CORRECTS
    return Effect.CONTRADICTS if changes_rarely(new.slot) and not _is_change(new, old) else Effect.ENDS


def _is_change(new: Revisable, old: Revisable) -> bool:
    """True if life may have changed between two statements: it is said so, or a long time lies between."""
    return _tells_of_change(new) or abs(new.at - old.at) >= CHANGE_OF_MIND


def _is_against(told: Revisable) -> bool:
    """True if a statement says no to the matter of its polar slot, by a no or by a verb of dislike but not by both.

    The words that fill the slot count: "I'm allergic to milk so I can't have the cake" denies no allergy.
    """
    filling = _filling(told)
    return filling.negates != (_DISLIKES.search(filling.text) is not None)


def _filling(told: Revisable) -> Doc:
    """The beginning of a statement's words that fills its slot."""
    words = told.words.split()
    parts = (Doc(" ".join(words[:end])) for end in range(1, len(words)))
    return next((part for part in parts if slot_of(part) == told.slot), Doc(told.words))


def _tells_of_change(new: Revisable) -> bool:
    """True if a statement says in words that something was otherwise before."""
    return any(sign.search(new.words) for sign in (_CEASED, _MOVED, _CORRECTED, _EASED, _NOW))


def _value_words(told: Revisable) -> frozenset[str]:
    """What may be the value of an attribute: names and numbers, else all content words."""
    doc = Doc(told.words)
    values = {word.casefold() for word in doc.capitals} | {str(n) for n in doc.numbers}
    return frozenset(values) or doc.stems


def _names(told: Revisable) -> frozenset[str]:
    return Doc(" ".join(Doc(told.words).capitals)).stems


def _says_more(new: Revisable, old: Revisable) -> bool:
    return old.stems < new.stems and len(new.stems) >= len(old.stems) + 2


def _says_end(new: Revisable, old: Revisable) -> bool:
    """True if it is told in words that something has ceased, or was put at another time."""
    told = new.on_matter_of(old)
    another_day = old.plans or None not in (day_ahead(old.words, old.at), day_ahead(told, new.at))
    return (_ceases(told) and not _ceases(old.words)) or (_MOVED.search(told) is not None and another_day)


def _ceases(text: str) -> bool:
    """True if a text says that something is no more: "I don't swim any more", not "any more ideas" or "never quit"."""
    for match in _CEASED.finditer(text):
        negated = any(map(is_negation, Doc(text[: match.start()]).plain_words[-NEGATED_WITHIN:]))
        if Doc(text).negates if match["denied"] else not negated:
            return True
    return False


def _carried_out(new: Revisable, old: Revisable) -> bool:
    """A plan, promise or debt of which it is told that it was done."""
    if new.slot is not None and new.slot == old.slot:
        return False
    told = new.on_matter_of(old)
    done = _DONE.search(told) is not None or any(map(is_past, Doc(told).plain_words))
    return old.plans and old.at < new.at and done and new.aspect is not Aspect.PLAN


def _eased(new: Revisable, old: Revisable) -> bool:
    """A bad feeling or state of which it is told that it is better; what once happened cannot get better."""
    events = [word for word in Doc(old.words).plain_words if is_past(word) and word not in _BEING]
    lasts = old.aspect is Aspect.FEELING or not events
    return lasts and old.valence < 0 and _EASED.search(new.on_matter_of(old)) is not None and new.valence > old.valence


_FORGET = re.compile(
    r"(?:^|[.!?,]\s*|\b(?:please|pls|can you|could you)\s+)(?<!don't )(?<!dont )(?<!never )forget\s+"
    r"(?:that|about|what i (?:said|told you) about|everything about)\s+(?P<what>[^.!?]{3,160})",
    re.IGNORECASE,
)
_UNTRUE = re.compile(
    r"(?:^|[.!]\s*)(?:actually,? |no,? |sorry,? )*(?:that'?s|that is|it'?s|it is"
    r"|that was) (?:not true|wrong about me|a lie|not right about me)\b"
    r"|\b(?:please|pls|just) forget (?:it|that|what i (?:just )?said)\s*[.!]?$",
    re.IGNORECASE,
)


def retractions(text: str) -> tuple[str | None, ...]:
    """Matters that a message asks to forget; None for what was said last.

    Examples
    --------
    >>> retractions("Please forget that I failed the test."), retractions("thats not true, sorry")
    (('I failed the test',), (None,))
    >>> retractions("I won't forget that song"), retractions("don't forget about friday")
    ((), ())
    """
    found: list[str | None] = [match["what"].strip() for match in _FORGET.finditer(text)]
    return tuple(found) if found else (None,) if _UNTRUE.search(text) else ()
