"""Revision: the effect of a new statement on an older one of the same person (spec 7, 12).

Two networks of `graphmem.text.contradiction` decide whether the older one has ended or is denied; beside them stand
two values of one attribute, and what is shown at work.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property

from graphmem.model import SHOWN_AT_WORK, Aspect, Effect, MemoryKind, Vector
from graphmem.text.chunks import leans
from graphmem.text.contradiction import ENDED_FOR_SURE, PairReading, ended_chance, load_contradiction_network
from graphmem.text.doc import ENGLISH, Doc, language_of
from graphmem.text.lexicon import KIN, SMALL_NUMBERS, base_kin
from graphmem.text.pairs import Compared, are_alike
from graphmem.text.quantities import is_mended, stated_comparisons
from graphmem.text.stems import stem

TYPE_CHARACTERS = 600
"""Characters of a piece that are read: what it is, it says early."""
SHARE = 0.4
"""Part of a piece the sentence with the attribute must make up for the whole to be about it."""

_NUMBER = rf"(?:\d{{1,3}}|{SMALL_NUMBERS})"
_AM = r"\b(?:i'm|im|i am|we're|we are)(?: (?:now|only|already|currently|actually|just|almost))*"
_AGE = rf"{_NUMBER}(?= ?(?:$|[.,!;]|years?|yrs?|since|and|now|but|today))"
_FAVOURITE = r"fav(?:ou?rite|e)?"
_OWN = tuple(
    (re.compile(pattern), slot)
    for pattern, slot in (
        (rf"\bmy (?:all[- ]time )?{_FAVOURITE} (?P<a>[a-z]+(?: (?!is\b|are\b)[a-z]+)?) (?:is|are)\b", "favourite {a}"),
        (rf"\b(?:is|are) (?:now |still )?my (?:all[- ]time )?{_FAVOURITE} (?P<a>[a-z]+)", "favourite {a}"),
        (r"\bmy (?:full |first )?name(?:'s| is)\b|\b(?:i'm|i am) called\b|\bcall me\b", "name"),
        (rf"{_AM} {_AGE}|\bi (?:just )?turned {_NUMBER}\b", "age"),
        (
            r"\b(?:i|we)(?:'ve)? (?:still |now |just )*(?:live|lived|moved) (?:in|to|at|near|on|from|over)\b",
            "home",
        ),
        (r"\bi (?:now )?(?:go|went|switched|changed) to (?:a |the )?[a-z' .]*\b(?:school|academy|college)\b", "school"),
        (rf"{_AM} (?:in|starting) (?:the )?(?:(?:year|grade|class) )?(?:\w+ grade|\d+[a-z]*)\b", "grade"),
        (r"\bmy best friend(?:'s name)?(?: is|'s| are)\b|\bis my best friend\b", "best friend"),
        (r"\bi (?:work|worked) (?:as|at|for|in)\b|\bi (?:got|have) (?:a|my) (?:new )?job (?:as|at)\b", "job"),
        (r"\bi (?:want|wanna|would like|'d like) (?:to )?(?:be|become) an? [a-z]+|\bmy dream job is\b", "dream job"),
        (r"\bi drive an? [a-z]+", "car"),
        (r"\bmy (?P<a>birthday|address|nickname|school|class|grade|hometown|height|[a-z]+ teacher)(?:'s)? is\b", "{a}"),
    )
)
_THEIRS = tuple(
    (re.compile(pattern), slot)
    for pattern, slot in (
        (r"(?:'s)? name is\b|is (?:called|named)\b", "name"),
        (r"(?:'s)? birthday is\b", "birthday"),
        (r"(?:[a-z]+ )?(?:still |now |also )?(?:lives?|lived|living|moved)\b", "home"),
        (rf"(?:[a-z]+ )?is (?:already |now |only )?{_AGE}", "age"),
        (r"(?:[a-z]+ )?(?:works|teaches|got a (?:new )?job) (?:as|at|in|for)\b", "job"),
        (rf"(?:'s)? {_FAVOURITE} (?P<a>[a-z]+) is\b", "favourite {a}"),
    )
)
_RELATIVE = "|".join(sorted(KIN, key=len, reverse=True))
_RELATED = re.compile(rf"\b(?:my|our) (?:(?:older|younger|big|little|twin) )?(?P<who>{_RELATIVE})(?= |')\s?")
_QUOTED_SPEECH = re.compile(r"[\"“][^\"”]*\b(?:i|i'm|im|my|me|we|our)\b[^\"”]*(?:[\"”]|$)")
"""Words of somebody's that are quoted."""
_FOR_LIFE = ("name", "birthday", "hometown")
_RARELY_CHANGED = ("birthday", "hometown", "home", "school", "job", "car")


OVERCOME = 0.6
"""Cosine from which an understanding overcomes a misconception of an earlier lesson."""
TWINS_FROM = ((0.7, 0.8), (0.87, 0.6))
"""Cosine, and share of the content words of the shorter one, from which two statements may say the same."""
REPEATED = 0.75
"""Cosine from which two steps of one lesson, both wrong or both right, are one."""
SAME_TALK = timedelta(hours=6)
"""Time within which a misconception shown and an understanding reached are of one lesson."""
SURELY_ENDED, ENDED_COSINE = 0.75, 0.3
"""Chance from which a statement is ended, and cosine that two without a word in common then need: of forty that end
(`tests/data/endings.jsonl`) none is farther."""
DOUBTED_ENDED, OPPOSED_ENDED, TOGETHER_ENDED, OPPOSED_COSINE = 0.02, 0.7, 1.0, 0.5
"""Chance from which a statement is ended where the contradiction network finds it ended by a chance of so much, of two
with a word in common that are so near or name one thing; or where both chances add up to so much. Chosen with the
shipped chats in view: of their changes 40 % are noticed, 81 % of what ends rightly (41, 76 % by the network before)."""
LEAST_CLASH = 0.15
"""Chance that the contradiction network then finds at least that both cannot be so at one time."""
TOLD_ENDED, TOLD_COSINE = 0.004, 0.45
"""The same of what is told in words to have ended, of two about one matter: so near, or with two words in common."""
HELD_STILL = 0.3
"""Chance of having ended, below which a statement that is soon denied has not."""
SHORT_MESSAGE = 3
"""Sentences of a message that is asked about beside each of its statements."""
JOINTS = (" and ", " but ", "; ")
"""What joins two statements in one sentence."""
PART_WORDS = 3
"""Fewest words of a statement that is joined with another."""
FEW_SENTENCES = 2
"""Sentences of statements that are so compared: what ends one of many does not end the others."""
STILL_HELD = 0.6
"""Share of the chance that one part of a statement has ended, below which the other part is still held."""
RATHER_ENDED = 0.5
"""Chance from which a statement has ended where something else tells so, too."""
SAME_MATTER, OPPOSITE_FEELING = 0.5, 0.3
"""Cosine from which two statements may be about one matter, and difference of valence from which two feelings of
opposite sign part them."""
CHANGE_OF_MIND = timedelta(days=60)
"""Time after which another value of what changes rarely is taken for a change."""
_TOLD_END = re.compile(
    r"\b(?:any ?more|no longer|stopped|quit|gave up|cancelled|called off|(?:is|are|was) over|(?:broke|split) up"
    r"|postponed|put off|moved to|now on|sold|(?P<wrong>i meant|i was wrong|sorry))\b",
    re.IGNORECASE,
)
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


def tells_attribute(doc: Doc) -> bool:
    """Return whether a message tells an attribute of the student or the family.

    Examples
    --------
    >>> tells_attribute(Doc("I am 15")), tells_attribute(Doc("I like it here"))
    (True, False)
    """
    return any(slot_of(sentence) is not None for sentence in doc.sentences)


def slot_of(doc: Doc, speaker: str | None = None) -> str | None:
    """Return the attribute of one value that a piece tells, and whose.

    Parameters
    ----------
    doc : Doc, in English; of a long one the first 600 characters are read
    speaker : who says it; the student ("self") if None

    Returns
    -------
    str such as `self favourite colour`, `Caroline home`, `self sister name`; None where no attribute is told, or only
    in passing (less than 0.4 of the piece). Slots are compared by `slot_key`

    Source: spec 12 (only memories of one slot are compared); lesson: unrelated facts must not retire each other.

    Examples
    --------
    >>> slot_of(Doc("My favourite colour is teal!")), slot_of(Doc("We moved to Rome"), "Ann")
    ('self favourite colour', 'Ann home')
    >>> slot_of(Doc("My mum lives in Rome")), slot_of(Doc("Do you live in Rome?"))
    ('self mother home', None)
    """
    whole = min(len(doc.text), TYPE_CHARACTERS)
    for sentence in doc.sentences:
        # "The girl says: I live in the walls" tells of no home.
        told = _QUOTED_SPEECH.sub(lambda m: " " * len(m.group()), sentence.plain[: max(0, whole - sentence.start)])
        if len(told) < SHARE * whole or told.endswith("?"):
            continue
        if (found := _theirs(told) or _own(told)) is not None:
            return f"{speaker or 'self'} {found}"
    return None


def slot_key(slot: str) -> str:
    """Return a slot as it is compared: the same for all inflections of its words.

    Examples
    --------
    >>> slot_key("self favourite games") == slot_key("self favourite game")
    True
    """
    return " ".join(stem(word) for word in slot.casefold().split())


def may_change(slot: str) -> bool:
    """Return whether a slot has another value some day.

    Examples
    --------
    >>> may_change("self home"), may_change("self birthday")
    (True, False)
    """
    return not slot.endswith(_FOR_LIFE)


def changes_rarely(slot: str) -> bool:
    """Return whether another value of a slot is told of as a change: a home, a school, a job.

    Examples
    --------
    >>> changes_rarely("self home"), changes_rarely("self favourite book")
    (True, False)
    """
    return slot.endswith(_RARELY_CHANGED)


def _theirs(sentence: str) -> str | None:
    related = _RELATED.search(sentence)
    if related is None:
        return None
    who = base_kin(related["who"])
    for pattern, slot in _THEIRS:
        found = pattern.match(sentence, related.end("who")) or pattern.match(sentence, related.end())
        if found:
            return f"{who} {_filled_slot(slot, found)}"
    return None


def _own(sentence: str) -> str | None:
    found = ((pattern.search(sentence), slot) for pattern, slot in _OWN)
    return next((_filled_slot(slot, match) for match, slot in found if match), None)


def _filled_slot(slot: str, found: re.Match[str]) -> str:
    """The slot with the attribute that was found in it."""
    attribute = (found.groupdict().get("a") or "").replace("favorite", "favourite").replace("color", "colour")
    return slot.replace("{a}", attribute)


@dataclass(frozen=True)
class PairVerdict:
    """Verdict on what a new statement does to an older one.

    effect : None where it does nothing to it
    chance : 0..1, of what networks alone find, else 1
    reason : in a sentence
    """

    effect: Effect | None = None
    chance: float = 1.0
    reason: str = ""

    @property
    def ends(self) -> bool:
        """True if the older one holds no longer, or a part of it."""
        return self.effect in (Effect.ENDS, Effect.CORRECTS, Effect.OUTDATES, Effect.SETTLES)


NO_EFFECT = PairVerdict()
DENIAL = "Both cannot be so, and no word tells of a change."
"""The reason to doubt both of two statements."""


@dataclass(frozen=True)
class Claim:
    """A statement as it is compared with others of the same person.

    content, words : the statement, and the words it comes from
    vector : embedding of the statement
    slot, slot_key : the attribute of one value that it tells, and what is the same for all statements of that attribute
    message : the whole message that it stands in
    fresh : said to a tutor just now: the networks know such statements best
    """

    content: str
    words: str
    at: datetime
    vector: Vector = field(repr=False)
    kind: MemoryKind = MemoryKind.TRAIT
    aspect: Aspect | None = None
    slot: str | None = None
    slot_key: str | None = None
    valence: float = 0.0
    message: str = field(default="", repr=False)
    fresh: bool = False

    @cached_property
    def said(self) -> Doc:
        """Its words."""
        return Doc(self.words)

    @property
    def stems(self) -> frozenset[str]:
        """The stems of its content words."""
        return self.said.stems

    @cached_property
    def names(self) -> frozenset[str]:
        """The stems of its words with a capital."""
        return Doc(" ".join(self.said.capitals)).stems

    @cached_property
    def values(self) -> frozenset[str]:
        """What may be the value of an attribute: names and numbers, else all content words."""
        return frozenset((*map(str.casefold, self.said.capitals), *map(str, self.said.numbers))) or self.stems

    @cached_property
    def compared(self) -> Compared:
        """It as pairs are compared."""
        return Compared(Doc(self.content), self.vector, self.valence)

    @cached_property
    def sentences(self) -> int:
        """How many sentences it has."""
        return max(len(Doc(text).sentences) for text in (self.content, self.words))

    @property
    def asked(self) -> tuple[str, ...]:
        """Its words as the networks are asked about them: alone, and with the message that they stand in."""
        whole = self.message if len(Doc(self.message).sentences) <= SHORT_MESSAGE else ""
        return tuple(dict.fromkeys((self.words, whole or self.words)))

    def cosine(self, other: "Claim") -> float:
        """Return the cosine of the embeddings of two statements."""
        return float(self.vector @ other.vector)

    def fills_slot_of(self, other: "Claim") -> bool:
        """Return whether both tell the same attribute."""
        return self.slot_key is not None and self.slot_key == other.slot_key


def pair_verdict(new: Claim, old: Claim) -> PairVerdict:
    """Return what a new statement does to an older one of the same person.

    Parameters
    ----------
    new, old : Claim, the older one still held true

    Returns
    -------
    PairVerdict; the older one is closed where it is ended, marked where only one of two statements joined in it is;
    where the newer one denies it without telling of a change, neither can be believed over the other

    Source: spec 7, 12.
    """
    if not SHOWN_AT_WORK.isdisjoint((new.aspect, old.aspect)):
        return _at_work(new, old)
    if new.fills_slot_of(old) and new.values != old.values:
        return _of_one_slot(new, old)
    found = NO_EFFECT if new.compared.folded == old.compared.folded else _by_networks(new, old)
    if found is NO_EFFECT and repeats(new, old):
        more = old.stems < new.stems and len(new.stems) >= len(old.stems) + 2
        return PairVerdict(Effect.REFINES if more else Effect.SAME)
    return found


def repeats(new: Claim, old: Claim) -> bool:
    """Return whether two statements say the same: they share most words, nothing parts them or is named anew."""
    if new.compared.folded == old.compared.folded:
        return True
    if not new.names <= old.names | old.stems:
        return False
    shared = len(new.stems & old.stems) / max(1, min(len(new.stems), len(old.stems)))
    near = any(new.cosine(old) >= least and shared >= words for least, words in TWINS_FROM)
    return near and are_alike(new.compared, old.compared)


def may_clash(new: Claim, old: Claim) -> bool:
    """Return whether two statements may deny each other: of one matter, with other numbers, names, denials, feelings.

    Source: spec 12 (only memories that could replace each other are compared).
    """
    apart = None not in (new.slot_key, old.slot_key) and new.slot_key != old.slot_key
    # Read together several statements seem to contradict a lot.
    several = max(new.sentences, old.sentences) > 1
    if apart or several or (new.aspect, old.aspect) != (None, None) or new.cosine(old) < SAME_MATTER:
        return False
    if new.valence * old.valence < 0 and abs(new.valence - old.valence) > OPPOSITE_FEELING:
        return True
    parts = ((each.names, each.said.numbers, each.said.negates) for each in (new, old))
    return next(parts) != next(parts)


def _by_networks(new: Claim, old: Claim) -> PairVerdict:
    """Return what the networks that read both find: that the older one has ended, or is denied."""
    cosine, shared = new.cosine(old), new.stems & old.stems
    # Of a step of a sum, or of another language, the networks know nothing (spec 7).
    sum_or_foreign = 2 * len(new.said.numbers) >= len(new.said.words) or language_of(new.words) != ENGLISH
    long = max(new.sentences, old.sentences) > FEW_SENTENCES
    unknown = sum_or_foreign or long or old.at >= new.at or new.words == old.words
    if unknown or not (shared or cosine >= ENDED_COSINE):
        return NO_EFFECT
    known = new.fresh and not new.kind is old.kind is MemoryKind.CONCEPT
    chance = ending_chance(new, old)
    near = shared and (cosine >= TOLD_COSINE or len(shared) > 1)
    if known and near and chance >= TOLD_ENDED and _TOLD_END.search(new.words):
        # Of two opposites "I don't love it any more" surely ends the one that it denies word by word.
        surely = not new.compared.denies or old.stems <= new.stems
        return _ended(new, old, 1.0 if surely else chance)
    one_matter = shared and (cosine >= OPPOSED_COSINE or not new.names.isdisjoint(old.names))
    may_end = chance >= max(DOUBTED_ENDED if one_matter else SURELY_ENDED, 0.0 if known else RATHER_ENDED)
    if not (may_end or may_clash(new, old)):
        return NO_EFFECT
    readings = load_contradiction_network().read([(old.words, text) for text in new.asked])
    denied = max((each.opposed for each in readings if each.denies), default=0.0)
    soon = new.at - old.at < CHANGE_OF_MIND
    still = any(each.denies and each.ended < HELD_STILL for each in readings) and soon
    changed = bool(denied) and not soon and chance >= RATHER_ENDED
    if may_end and not still and (changed or _is_over(new, old, chance, readings, known=known)):
        return _ended(new, old, chance)
    return PairVerdict(Effect.CONTRADICTS, denied, DENIAL) if denied else NO_EFFECT


def _is_over(new: Claim, old: Claim, chance: float, readings: Sequence[PairReading], *, known: bool) -> bool:
    """Return whether the contradiction network agrees that a statement has ended, which another finds by a chance."""
    ended = max(each.ended for each in readings)
    if not known:
        return ended >= ENDED_FOR_SURE
    if chance < SURELY_ENDED:
        return ended >= OPPOSED_ENDED or chance + ended >= TOGETHER_ENDED
    # What is only said again, with more to it, is taken for an end by one of the networks; but a plan is carried out.
    done = old.aspect is Aspect.PLAN and new.aspect is not Aspect.PLAN
    return done or max(each.clash for each in readings) >= LEAST_CLASH


def _ended(new: Claim, old: Claim, chance: float) -> PairVerdict:
    effect = Effect.OUTDATES if _outdates(new, old) else Effect.ENDS
    return PairVerdict(effect, chance, "What was so is otherwise by now.")


def ending_chance(new: Claim, old: Claim) -> float:
    """Return the chance that an older statement has ended, by the new one's words or its message, if that is short.

    Own words are compared, which the network knows far better than what was made of them.
    """
    return max(ended_chance(text, old.words) for text in new.asked)


def _outdates(new: Claim, old: Claim) -> bool:
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
    """Return whether a text has a word by which something ends or is put right, or compares two numbers rightly.

    Examples
    --------
    >>> may_take_back("I don't hate decimals any more."), may_take_back("So 1/4 is bigger than 1/8.")
    (True, True)
    >>> may_take_back("My favourite colour is teal now.")
    False
    """
    return _TOLD_END.search(text) is not None or any(each.holds for each in stated_comparisons(text))


def _at_work(new: Claim, old: Claim) -> PairVerdict:
    """Return the effect of what is shown at work: understanding overcomes a misconception of the lesson or matter."""
    soon, cosine = abs(new.at - old.at) <= SAME_TALK, new.cosine(old)
    if old.aspect is Aspect.MISCONCEPTION and new.aspect is not Aspect.MISCONCEPTION:
        same_matter = soon or (cosine >= OVERCOME and not new.stems.isdisjoint(old.stems))
        understood = new.aspect is Aspect.UNDERSTANDING and same_matter
        over = understood or is_mended(old.words, new.words)
        return PairVerdict(Effect.ENDS, reason="The wrong idea is overcome.") if over else NO_EFFECT
    again = new.aspect is old.aspect and ((soon and cosine >= REPEATED) or repeats(new, old))
    return PairVerdict(Effect.SAME) if again else NO_EFFECT


def _of_one_slot(new: Claim, old: Claim) -> PairVerdict:
    """Return the effect of another value of an attribute that has one at a time."""
    told = _TOLD_END.search(new.words)
    if told is not None and told["wrong"]:
        return PairVerdict(Effect.CORRECTS, reason="The student put it right.")
    change = PairVerdict(Effect.ENDS, reason="The attribute has another value by now.")
    rarely = new.slot is None or changes_rarely(new.slot)
    if not rarely or abs(new.at - old.at) >= CHANGE_OF_MIND:
        return change
    (reading,) = load_contradiction_network().read([(old.words, new.words)])
    ended = max(reading.ended, ending_chance(new, old))
    return change if ended >= RATHER_ENDED else PairVerdict(Effect.CONTRADICTS, reason=DENIAL)


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
