"""Belief revision by rule: the beliefs that a surprising message changes, each with a reason (spec 5)."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from graphmem.model import Belief, BeliefUpdate, MemoryKind, Modality, Surprising
from graphmem.text.certainty import TYPE_CHARACTERS, confidence
from graphmem.text.doc import Doc, doc_of
from graphmem.text.lexicon import FIRST_PERSON
from graphmem.text.second_person import to_first_person
from graphmem.text.slots import slot_key, slot_of
from graphmem.text.statements import Claim, Statement, statements

MAX_BELIEF_UPDATES = 4
"""Most beliefs that one message changes."""
SAID = 0.7
"""Confidence in what was only said in the talk."""
TALK_READ = 12
"""Messages of the talk that are looked at, newest first."""
SAME_MATTER_SHARE = 0.6
"""Share of the content words that two statements on one matter have in common."""
SURE, LIKELY, PERHAPS = 0.9, 0.75, 0.6
"""How far a reason takes away the confidence there was in what was believed."""


@dataclass(frozen=True)
class _Prior:
    """Something that was held to be so before; `place` grows towards the present."""

    said: Statement
    belief: Belief | None
    place: int

    @property
    def confidence(self) -> float:
        return SAID if self.belief is None else self.belief.confidence


@dataclass(frozen=True)
class _Reason:
    """Why a prior no longer holds, and what takes its place."""

    prior: _Prior | str
    new: Statement
    certainty: float
    evolution: bool = False


@dataclass(frozen=True)
class _Scene:
    """A message and what went before it."""

    said: Sequence[Statement]
    priors: Sequence[_Prior]
    put_right: bool


_Rule = Callable[[int, _Scene], _Reason | None]

_CONCEDES = re.compile(
    r"^\W*(?:(?:oh|ah|yes|yeah|ok(?:ay)?|right|sorry|hmm+|thank you|thanks)\W+)*"
    r"(?:oh|ah|wait|i see|i (?:now )?understand(?: now)?|you(?:'re| are) right|that's right|(?:sorry|oops)|my mistake"
    r"|i (?:made|see) (?:a|my|the) (?:small )?mistake|i was wrong|no wait|got it|i get it(?: now)?)\b"
)
_DOUBTS = re.compile(
    r"\b(?:wrong|incorrect|mistakes?|errors?|not (?:quite|correct|right|exactly|true)|check|are you sure|try again"
    r"|think again|look again|re-?(?:read|check|think|calculate|consider)|isn't (?:right|correct|it)|doesn't|didn't"
    r"|should(?:n't)? (?:be|have)|instead|remember|forgot(?:ten)?|don't forget|careful|actually|problem with)\b"
    r"|^\W*(?:no|not)\b"
)
_ADMITS = re.compile(
    r"\bi (?:now |also |think i |guess i |see (?:now )?(?:that )?i |agree (?:that )?i |realize (?:now )?(?:that )?i )*"
    r"(?:should(?:n't)? have(?! to)|shouldve|misread|misunderstood|miscalculated|mixed up"
    r"|made (?:a|the|my) (?:\w+ )?mistake (?:when|by|in)|was wrong (?:about|to|when)|didn't (?:realize|realise|notice)"
    r"|mistakenly|(?:was )?accidentally|(?:was )?incorrectly|wrongly)\b"
    r"|\bmy mistake\b|\bthat's where i (?:went|was) wrong\b"
)
_WAS_DOING = re.compile(
    r"\bi (?:was|originally|initially|mistakenly|accidentally|just)(?: \w+)? ?\w+(?:ing|ed)\b[^.!?]*\binstead of\b"
    r"|\b(?:should|need(?:ed)? to|have to|has to|must)\b[^.!?]*\binstead of\b"
)
_DID_INSTEAD = re.compile(
    r"\bi (?:was|originally|initially|mistakenly|accidentally|incorrectly) (?P<did>[^.!?]{6,160}?) instead of\b"
    r"|\bshould(?: just)? (?:have|be)\b[^.!?]*\binstead of (?P<rest>[^.!?]{6,160})"
)
_USED_TO = re.compile(
    r"\bi (?:used to|no longer|stopped|quit|gave up|don't \w+(?: \w+){0,6} anymore)\b"
    r"|\bi(?:'m| am) (?:no longer|not \w+(?: \w+){0,4} anymore)\b|\bi've (?:stopped|quit|given up|changed)\b"
    r"|\bi changed my mind\b"
)
_NEW_STATE = re.compile(
    r"\b(?:now|moved|new|turned|switched|changed|anymore|no longer|used to|since|just got|became)\b"
)
_MISTAKEN = re.compile(r"\b(?:i was wrong|i meant|mistake|actually|sorry|correction)\b|\bnot \w+,? but\b")
_THOUGHT = re.compile(
    r"\bi (?:(?:had|always|first|initially|originally) )*thought (?:that (?!is|was))?"
    r"(?P<was>[^.!?;]{6,160}?)(?:,? but|\. but|\. i (?:didn't|see|should)|, (?:so|and) i)\b"
)
_MAYBE = re.compile(
    r"\b(?:if|would|could|might|maybe|perhaps|(?:not|n't) (?:\w+ )?sure|unsure|don't know|wondering)\b"
    r"|n't (?:\w+ )?sure\b"
)
_INSTEAD = re.compile(r"\binstead of\b|, (?:and )?not\b|\brather than\b|\bwhen i should have\b")
_FOR = re.compile(r"\b(?:like|likes|love|loves|enjoy|adore|prefer|keen|fond|good|great|best)\b")
_AGAINST = re.compile(r"\b(?:hate|hates|dislike|detest|loathe|can't stand|cant stand|bad|terrible|awful|worst)\b")
_POLAR = ("likes:", "plays ", "skill:", "speaks:", "collects:", "allergy:", "fear:")
_SINGLE = re.compile(
    r" (?:home|school|grade|age|name|birthday|best friend|dream job|current book|bedtime|height|weight|job|favourite .+"
    r"|hometown|hobby|nationality|teacher|coach|level|score|.+ (?:teacher|coach|level|score))$"
)
_NUMERIC = (" age", " grade", " height", " weight", " bedtime", " level", " score")
_NAMED = (" home", " school", " name", " best friend", " teacher", " coach", " job", " hometown")
_TELL_APART = Doc("first second third fourth fifth last next final per each every total left remaining extra").stems
_IS = re.compile(r"(?:\b(?:is|are|was|named|called|be|reading|become)\b|'s\b|:)\s+(?P<value>.+)")


def belief_updates(surprising: Surprising) -> tuple[BeliefUpdate, ...]:
    """Belief updates in a message: retractions, corrections and new values of prior beliefs.

    Parameters
    ----------
    surprising : Surprising, in English

    Returns
    -------
    tuple of BeliefUpdate, in the order of the message, at most 4, none twice for one prior; `new` is a sentence of
    the message as it stands there. Only for a reason: one attribute with another value, a calculation with another
    result, a lapse that is owned up to, another number for the same quantity after being put right, something that
    is no longer so, or the denial of a belief in its own words

    Notes
    -----
    Precision before recall. `delta` is minus the belief's confidence times how strong the reason is.

    Source: spec 5.

    Examples
    --------
    >>> from datetime import UTC, datetime
    >>> from graphmem.model import Level
    >>> home = Belief("memory-1", "I live in Rome.", MemoryKind.TRAIT, "self home")
    >>> at, level = datetime(2026, 1, 5, tzinfo=UTC), Level.PARADIGM_SHIFT
    >>> told = Surprising(level, 0.95, 0.1, "Yes", "How are you?", "Great! We moved to Paris.", at, beliefs=(home,))
    >>> [(u.prior_id, u.new, u.evolution) for u in belief_updates(told)]
    [('memory-1', 'We moved to Paris.', True)]
    """
    scene = _scene(surprising)
    taken: set[object] = set()
    found: list[BeliefUpdate] = []
    for place in range(len(scene.said)):
        reason = next((reason for rule in _RULES if (reason := rule(place, scene))), None)
        if reason is None or len(found) == MAX_BELIEF_UPDATES:
            continue
        key = reason.prior if isinstance(reason.prior, str) else (reason.prior.belief or reason.prior.said.text)
        if key not in taken and reason.new.start not in taken:
            taken |= {key, reason.new.start}
            found.append(_update(reason))
    return tuple(found)


def _scene(surprising: Surprising) -> _Scene:
    talk = [s for i, text in enumerate(surprising.talk[-TALK_READ:]) for s in _placed(Doc(text), i, None)]
    beliefs = [s for b in surprising.beliefs for s in _placed(Doc(b.words), _place(b, talk), b)]
    known = {prior.said.text for prior in beliefs}
    priors = sorted([*beliefs, *(p for p in talk if p.said.text not in known)], key=lambda prior: prior.place)
    doc, before = doc_of(surprising), Doc(surprising.before[:TYPE_CHARACTERS]).plain
    plain = doc.plain[:TYPE_CHARACTERS]
    put_right = bool(_CONCEDES.search(plain) or _ADMITS.search(plain) or _DOUBTS.search(before))
    return _Scene(tuple(statements(doc)), priors, put_right)


def _placed(doc: Doc, place: int, belief: Belief | None) -> Iterator[_Prior]:
    return (_Prior(said, belief, place) for said in statements(doc))


def _place(belief: Belief, talk: Sequence[_Prior]) -> int:
    """Position in the talk at which a belief was formed; -1, before the talk, if not there."""
    return next((prior.place for prior in talk if prior.said.text in belief.words), -1)


def _update(reason: _Reason) -> BeliefUpdate:
    new, prior = reason.new, reason.prior
    own = not FIRST_PERSON.isdisjoint(new.doc.plain_words)
    held = SAID if isinstance(prior, str) else prior.confidence
    return BeliefUpdate(
        prior_id=None if isinstance(prior, str) or prior.belief is None else prior.belief.id,
        prior=prior if isinstance(prior, str) else prior.said.text,
        new=new.text,
        start=new.start,
        end=new.end,
        kind=MemoryKind.TRAIT if own else MemoryKind.CONCEPT,
        modality=Modality.SEMANTIC,
        delta=-round(held * reason.certainty, 3),
        confidence=confidence(new.doc),
        evolution=reason.evolution,
    )


# Rules: each looks at one statement of the message


def _another_value(place: int, scene: _Scene) -> _Reason | None:
    """The same attribute of the student or their family with another value."""
    new = scene.said[place]
    slot = _told_slot(new)
    if slot is None or _MAYBE.search(new.plain):
        return None
    for prior in scene.priors:
        held = _slot(prior)
        if held and slot_key(held) == slot_key(slot) and _differs(slot, prior.said, new):
            mistaken = _MISTAKEN.search(new.plain) and not _NEW_STATE.search(new.plain)
            return _Reason(prior, new, SURE, evolution=not mistaken)
    return None


def _another_result(place: int, scene: _Scene) -> _Reason | None:
    """The same calculation with another result."""
    new = scene.said[place]
    for calculation, result in new.calculations.items():
        prior = next((p for p in reversed(scene.priors) if calculation in p.said.calculations), None)
        if prior and prior.said.calculations[calculation] != result and not _was_right(prior.said, new):
            return _Reason(prior, new, SURE)
    return None


def _lapse(place: int, scene: _Scene) -> _Reason | None:
    """Something owned up to as a mistake, with what should have been."""
    said = scene.said[place]
    instead = _INSTEAD.search(said.plain) is not None
    if not (_ADMITS.search(said.plain) or (instead and _WAS_DOING.search(said.plain))) or not _says_what(said):
        return None
    prior = _nearest(said, scene.priors, least=2, share=0.6 if instead else 0.5)
    if prior and (instead or not _repeats(said, prior.said)):
        return _Reason(prior, said, LIKELY)
    wrong = _wrong_way(said)
    return _Reason(wrong, said, LIKELY) if wrong else None


def _thought(place: int, scene: _Scene) -> _Reason | None:
    """ "I thought ..., but ..." """
    said = scene.said[place]
    after = scene.said[place + 1] if place + 1 < len(scene.said) else None
    found = _THOUGHT.search(f"{said.plain.rstrip('.')}. {after.plain if after else ''}")
    if found is None or "you" in found["was"].split():
        return None
    held = said.text[found.start("was") : found.end("was")].rstrip(" .,")
    # What is so then stands in the next sentence, or behind the comma.
    new = after if after and found.end() > len(said.plain) else said
    return _Reason(held, new, LIKELY) if held else None


def _another_number(place: int, scene: _Scene) -> _Reason | None:
    """Another number for what was said before in the same words, once put right."""
    new = scene.said[place]
    if not scene.put_right or new.claim is None:
        return None
    here = [prior for prior in scene.priors if prior.place >= 0]
    prior = next((p for p in reversed(here) if p.said.claim and _one_quantity(p.said.claim, new.claim)), None)
    if prior is None or prior.said.claim is None or prior.said.claim.value == new.claim.value:
        return None
    if new.claim.value in prior.said.numbers:
        return None
    return None if _was_right(prior.said, new) else _Reason(prior, new, LIKELY)


def _no_longer(place: int, scene: _Scene) -> _Reason | None:
    """Reason for a belief update: a state that no longer holds ("used to")."""
    new = scene.said[place]
    if not _USED_TO.search(new.plain):
        return None
    prior = _nearest(new, scene.priors, least=2, share=0.6, here=False)
    return None if prior is None or prior.said.denies else _Reason(prior, new, SURE, evolution=True)


def _denied(place: int, scene: _Scene) -> _Reason | None:
    """A belief in its own words, but the other way round."""
    new = scene.said[place]
    if _MAYBE.search(new.plain):
        return None
    for prior in scene.priors:
        old = prior.said
        shared, either = old.matter & new.matter, old.matter | new.matter
        if (
            old.denies != new.denies
            and len(shared) >= max(2, SAME_MATTER_SHARE * len(either))
            and not _MAYBE.search(old.plain)
        ):
            return _Reason(prior, new, LIKELY, evolution=bool(_NEW_STATE.search(new.plain)))
    return None


_RULES: tuple[_Rule, ...] = (
    _another_value,
    _another_result,
    _no_longer,
    _thought,
    _lapse,
    _another_number,
    _denied,
)


# What the rules ask


def _slot(prior: _Prior) -> str | None:
    told = _told_slot(prior.said)
    # Where a belief has several sentences, nobody knows which of them its slot is about.
    whole = prior.belief is not None and prior.said.end - prior.said.start >= len(prior.belief.words.strip())
    return told or (prior.belief.slot if prior.belief and whole else None)


def _told_slot(said: Statement) -> str | None:
    own = to_first_person(said.text)
    return slot_of(said.doc if own == said.text else Doc(own))


def _differs(slot: str, old: Statement, new: Statement) -> bool:
    if any(mark in slot for mark in _POLAR):
        return _attitude(old) != _attitude(new)
    if not _SINGLE.search(slot):
        return False
    if slot.endswith(_NUMERIC):
        return bool(old.numbers and new.numbers) and not set(old.numbers) & set(new.numbers)
    if slot.endswith(_NAMED):
        before, after = _names(old.text), _names(new.text)
    else:
        before, after = _value(old), _value(new)
    return bool(before and after) and not before & after


def _attitude(said: Statement) -> bool:
    against = _AGAINST.search(said.plain) is not None and _FOR.search(said.plain) is None
    return said.denies != against


def _names(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"(?<=[\w,'’] )[A-Z][a-zà-ÿ]+", text))


def _value(said: Statement) -> frozenset[str]:
    found = _IS.search(said.plain)
    return Statement(Doc(found["value"]), 0, 0).stems if found else frozenset()


def _was_right(old: Statement, new: Statement) -> bool:
    """True if a calculation was right before and is wrong now: a slip, nothing understood."""
    return confidence(old.doc) > confidence(new.doc)


def _says_what(said: Statement) -> bool:
    return len(said.stems) >= 4 or (len(said.stems) >= 1 and bool(said.numbers))


def _one_quantity(old: Claim, new: Claim) -> bool:
    """True if two claims state the amount of the same thing."""
    shared, either = old.matter & new.matter, old.matter | new.matter
    if old.unit != new.unit or len(shared - new.unit) < 2 or len(shared) < SAME_MATTER_SHARE * len(either):
        return False
    return not (either - shared) & _TELL_APART


def _wrong_way(said: Statement) -> str:
    """Extract the mistaken action from a statement that something else should have been done."""
    found = _DID_INSTEAD.search(said.plain)
    if found is None:
        return ""
    part = "did" if found["did"] else "rest"
    return said.text[found.start(part) : found.end(part)].strip()


def _repeats(new: Statement, old: Statement) -> bool:
    """True if a statement only repeats an earlier one."""
    return len(new.stems & old.stems) >= 0.8 * len(new.stems) and set(new.numbers) <= set(old.numbers)


def _nearest(new: Statement, priors: Sequence[_Prior], least: int, share: float, here: bool = True) -> _Prior | None:
    """Prior statement (`here`: in the talk) with the greatest overlap with a new statement, the latest on ties."""
    best, most = None, (0.0, 0)
    for prior in priors:
        if here and prior.place < 0:
            continue
        shared = len(prior.said.stems & new.stems)
        if shared < least or shared < share * min(len(new.stems), len(prior.said.stems)) or prior.said.text == new.text:
            continue
        score = (shared + 0.5 * len(set(prior.said.numbers) & set(new.numbers)), prior.place)
        if score >= most:
            best, most = prior, score
    return best
