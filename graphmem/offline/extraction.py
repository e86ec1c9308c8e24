"""Memory extraction by rule and small models: statements of a message, their relations, its ledger entries (spec 7)."""

import re
from collections.abc import Collection, Sequence
from itertools import compress, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphmem.model import (
    ANYONE,
    Aspect,
    Extract,
    Extraction,
    Heard,
    LedgerCategory,
    MemoryKind,
    Modality,
    Relation,
    Reminder,
)
from graphmem.offline.schoolwork import aspect_at_work, shown_at_work
from graphmem.offline.selection import LEAST_ALONE, LEAST_IN_DOUBT, select_statements
from graphmem.offline.wordings import CHECKS, NEXT
from graphmem.text.answers import stated_answer, with_mine_named
from graphmem.text.antecedents import with_antecedents
from graphmem.text.certainty import LAPSE, STATED_CONFIDENCE, confidence, is_question, last_question
from graphmem.text.chunks import chunks
from graphmem.text.clauses import is_fragment, telling_spans
from graphmem.text.comparisons import stated_comparisons
from graphmem.text.dialogue_acts import overrides
from graphmem.text.discourse import content_words, relations
from graphmem.text.doc import Doc, doc_of
from graphmem.text.generalising import OPERATION
from graphmem.text.lexicon import FIRST_PERSON, KIN, LESSON_WORDS, SECOND_PERSON, STOP_WORDS
from graphmem.text.normalize import cleaned
from graphmem.text.reader import MessageReading, read_now
from graphmem.text.reminders import reminders
from graphmem.text.retelling import is_shown, retold, without_lead_in
from graphmem.text.revision import may_take_back, retractions
from graphmem.text.sentences import SentenceSpan
from graphmem.text.slots import is_kept_anyway, is_state, slot_of
from graphmem.text.stems import stem
from graphmem.text.talk import TalkKind, talk_of
from graphmem.text.words import is_known, word_rarity
from graphmem.text.worth import CLAUSE_KINDS, load_worth

LANGUAGE_WORDS = 120
"""Words of a message that its language is told by."""
FEW_LANGUAGE_WORDS = 3
"""Words too few to tell a language by."""
TOPICS = 3
"""Most key phrases a memory is filed under."""
WORTH, WORTH_OF_OTHERS = 0.12, 0.35
"""Chance that a clause tells of the student from which its statement is judged; the same of one that speaks to the
listener, or of nobody."""
WORTH_ALONE, WORTH_OF_OTHERS_ALONE = 0.3, 0.55
"""The same from which it is kept where its statement is not judged; chosen on a conversation that was read."""
VIEW_WORTH = 0.15
"""Chance below which a view is not even kept where an observed message tells nothing else."""
IDLE = frozenset({TalkKind.REACTION, TalkKind.GREETING, TalkKind.GOODBYE, TalkKind.THANKS, TalkKind.COMPANION})
"""Kinds of talk that tell nothing."""
OF_LIFE = 0.5
"""Chance that a clause tells of somebody's life from which it is no step of a sum, though it has numbers."""
WORK_WORTH = 0.4
"""Chance that a clause tells of the subject matter from which it is kept."""
GENERAL_PASSES = 2
"""Passes of the reader from which a clause on the subject matter says more than a step does."""
RETOLD_STEMS, RETOLD = 3, 0.7
"""Stems that a clause has in common with the task, and their share of its own, from which on it retells the task."""
MANY_NUMBERS = 3
"""Numbers of a message that is work on a sum."""

_DIGIT = re.compile(r"\d")
_WORK = re.compile(r"\d\s*[-+*x×÷=<>]\s*[$€£]?\d|\d\s+/\s+\d|=")
_POINTS = re.compile(
    r"(?<!^)\b(?:it|that|this|one|these|those|them|there)\b\W*(?:$|one day|soon|some ?time|out|too|now|again|either)"
)
_ASKS_LISTENER = re.compile(
    r"\W*(?:(?:so|and|but|well|ok)\W+)?(?:let(?:'s| me| us)|keep (?:me|us|it|going)|send me|tell me|show me)\b"
)
_NARRATES = re.compile(
    r"\b(?:i|we) (?:first )?(?:started|began)(?: off)? (?:by|with)\b|\bset up (?:an?|the|my) equation\b"
)
_ELLIPTIC = re.compile(
    r"^\W*(?:(?:yes|yep|yeah|no|nope|ok|and|oh|well)\W+)*(?:it|it's|its|they|he|she"
    r"|that|this|them|handed|paid|did|done|didn't|didnt|only|like|since|not|maybe)\b",
    re.IGNORECASE,
)
_POINTS_BACK = re.compile(r"\W*(?:(?:it|they|that|those|these|this)(?:'s|'re)?|mine)\b", re.IGNORECASE)
"""A beginning that a question just before may name."""
_LEANS_BACK = re.compile(
    r"^\W*(?:(?:yes|yep|yeah|no|nope|ok|and|oh|well|but|although|though|maybe|perhaps)\W+)*(?:(?:i|we|i'm|we're)"
    r"(?: (?:do|did|am|are|was|were|have|can|could|would|will|used to|don't|didn't|wasn't|haven't|can't"
    r"|couldn't|wouldn't))?"
    r"(?: (?:too|not|also|either|really|as well|actually|indeed|sometimes|never))*\s*(?:[.,;!]|$)"
    r"|(?:me too|same here|(?:so|neither|nor) (?:do|am|did|have|can|would|was) (?:i|we))\W*$|mine\b)",
    re.IGNORECASE,
)
"""What means nothing without what was said before: "I do.", "me too", "mine is blue"."""
POINTING_WORDS = 3
"""Content words of a clause that ends with "it" or "that", of which nobody knows any more what it means."""
LEAST_RARITY, LEAST_RARITY_JUDGED = 2.75, 1.0
"""Rarity that the content words of a clause add up to at least; a word among the thousand commonest has less than the
first. The second where its statement is judged."""


def extract(heard: Heard, readings: Sequence[MessageReading] | None = None) -> Extraction:
    """The statements of a message that are worth keeping, their relations, and what belongs into the ledger.

    Parameters
    ----------
    heard : Heard; of `before` and `reply` nothing is formed, they say what it answers and whether it was right
    readings : of the texts of `candidate_texts(heard)`; None: they are read here, on this thread

    Returns
    -------
    Extraction; each memory is a statement with the span it comes from. Nothing of greetings, thanks, praise, bare
    answers, bare steps, questions and jokes. In other languages than English a memory is the message's own words,
    taken for knowledge, without entities or slot. Of a message without passes only ledger entries, and no danger

    Source: spec 1, 7.

    Examples
    --------
    >>> from datetime import datetime, UTC
    >>> heard = Heard("Hi Ada! My favourite colour is teal.", datetime(2026, 1, 5, tzinfo=UTC))
    >>> [(m.start, m.end, m.content, m.kind.value, m.slot) for m in extract(heard).memories]
    [(8, 36, "The student's favourite colour is teal.", 'trait', 'self favourite colour')]
    """
    doc = doc_of(heard)
    spans = telling_spans(doc)
    readings = read_now(_candidate_texts(doc, spans, heard)) if readings is None else readings
    stands = [not retractions(doc.text[slice(*span)]) for span in spans]
    kept = reminders(heard, list(compress(spans, stands)), list(compress(readings, stands)))
    if not heard.passes:
        # Danger is told by a detector of its own, which has found none.
        return Extraction(reminders=tuple(each for each in kept if each.category is not LedgerCategory.THREAT))
    if not _can_be_read(doc):
        return Extraction(tuple(_foreign(doc, heard)), (), kept)
    aspect = aspect_at_work(doc, heard)
    found = _told(doc, heard, spans, readings, kept, aspect)
    shown = shown_at_work(doc, heard, _who(heard), aspect, told=bool(found))
    if shown is not None:
        # What a step shows, right or wrong, is not told a second time.
        found = [each for each in found if not _meet(each.span, shown.span)]
        found = sorted([*found, _Found(shown.span, shown.content, "work", shown.aspect)], key=lambda each: each.span)
    if heard.observed and len(found) > 1:
        # Whole messages: evidence recall is measured by messages, and split ones were found worse.
        found = [_joined(found)]
    quotes = _quotes([each.span for each in found], spans)
    memories = tuple(_memory(each, quote, heard) for each, quote in zip(found, quotes, strict=True))
    pieces = [Doc(doc.text[slice(*each.span)]) for each in found]
    joined: tuple[Relation, ...] = ()
    if pieces:
        joined = relations(pieces, [m.modality is Modality.EMOTIONAL for m in memories], heard.passes)
    return Extraction(memories, joined, kept)


def candidate_texts(heard: Heard) -> list[str]:
    """The clauses of a message whose worth is judged, in order, without how they lead in ("yeah, ...")."""
    doc = doc_of(heard)
    return _candidate_texts(doc, telling_spans(doc), heard)


def _candidate_texts(doc: Doc, spans: Sequence[SentenceSpan], heard: Heard) -> list[str]:
    texts = [without_lead_in(doc.text[slice(*span)]) for span in spans]
    # "Do you have a dog? Mine is called Rex" names what is "mine" itself.
    named = [with_mine_named(before, text) or text for before, text in pairwise(texts)]
    return [stated_answer(heard) or texts[0], *named] if texts else []


class _Found(NamedTuple):
    """A statement that is kept: its span, content, and the kind of clause or aspect it was taken for.

    clause : its span without how it leads in, an answer as a statement; None of what a turn of work shows
    """

    span: SentenceSpan
    content: str
    kind: str
    aspect: Aspect | None = None
    reading: MessageReading | None = None
    clause: Doc | None = None


def _who(heard: Heard) -> str:
    return heard.speaker or heard.student or ANYONE


def _quotes(spans: Sequence[SentenceSpan], candidates: Sequence[SentenceSpan]) -> list[SentenceSpan]:
    """The words each statement is kept with: its own, and the clauses left out beside it, so that nothing is lost."""
    quotes = list(spans)
    for start, end in candidates:
        if not spans or any(start < e and s < end for s, e in spans):
            continue
        before = [i for i, span in enumerate(spans) if span[1] <= start]
        nearest = before[-1] if before else 0
        quotes[nearest] = (min(quotes[nearest][0], start), max(quotes[nearest][1], end))
    return quotes


def _told(
    doc: Doc,
    heard: Heard,
    spans: Sequence[SentenceSpan],
    readings: Sequence[MessageReading],
    kept: Sequence[Reminder],
    shown: Aspect | None,
) -> list[_Found]:
    """What clauses tell of the student's life and ways, and what belongs into the ledger."""
    judged = [
        _Judged(span, clause := Doc(text), load_worth().of_clause(clause, reading), reading)
        for span, text, reading in zip(spans, _candidate_texts(doc, spans, heard), readings, strict=True)
    ]
    # Of talk that is observed whole messages are kept, as they were said.
    questions = {} if heard.observed else _own_questions(doc, judged)
    able = [each for each in judged if _may_be_kept(each, doc, heard, kept, first=each is judged[0], named=questions)]
    told = [
        each
        for each in able
        if each.is_worth_keeping(_least_worth(each.clause, heard))
        or _overlaps(each.span, kept)
        or is_kept_anyway(slot_of(each.clause))
    ]
    if not told and heard.observed:
        # Who observes has a reason, and talk outside a lesson mostly tells of life.
        telling = [each for each in able if not _is_idle(each, heard, first=each is judged[0])]
        told = [max(telling, key=lambda each: each.personal)] if telling else []
    texts = [each.clause.text for each in judged]
    named = dict(zip(texts, texts if heard.observed else with_antecedents(texts, heard.talk), strict=True))
    found, least = list[_Found](), list[float]()
    for each in told:
        by_kind = {"plan": Aspect.PLAN, "feeling": Aspect.FEELING, "work": shown}
        aspect = _compared(each.clause) or by_kind.get(each.kind)
        text = named[each.clause.text]
        asked = _asked(text, heard, first=each is judged[0])
        asking = questions.get(each.span)
        content = _statement(text, heard, asked, doc.text[slice(*asking)] if asking else "")
        if each.kind == "work" and aspect is not None:
            content = _held(content, heard, aspect)
        if content:
            span = (asking[0], each.span[1]) if asking else each.span
            found.append(_Found(span, content, each.kind, aspect, each.reading, each.clause))
            least.append(0.0 if asked else _least_judged(each, kept, heard))
    return _selected(found, least, _who(heard)) if _judges(heard) else found


def _may_be_kept(
    judged: "_Judged",
    doc: Doc,
    heard: Heard,
    kept: Sequence[Reminder],
    *,
    first: bool,
    named: Collection[SentenceSpan],
) -> bool:
    """True of a clause that says something of the student by itself, or with a question; those `named` have one."""
    clause = judged.clause
    reckons = _WORK.search(doc.text) is not None or len(doc.numbers) >= MANY_NUMBERS
    leans = _LEANS_BACK.match(clause.text) is not None
    return (
        not _is_left_out(clause, judges=_judges(heard))
        and not (heard.task and _retells(clause, heard.task))
        and (judged.is_beyond(heard) or judged.is_of_life(heard) or not _is_step(clause, heard, reckons=reckons))
        and (_overlaps(judged.span, kept) or not _is_of_listener(clause))
        and (not leans or judged.span in named or bool(_asked(clause.text, heard, first=first)))
    )


def _judges(heard: Heard) -> bool:
    """True if statements are judged: the judge knows talk, not what is chosen to be remembered."""
    return not heard.observed


def _least_judged(judged: "_Judged", kept: Sequence[Reminder], heard: Heard) -> float:
    """The worth from which a statement is kept.

    Work without a task and numbers, or beyond one exercise, an attribute, what may end something, and what the ledger
    holds are kept anyway.
    """
    clause = judged.clause
    works = judged.kind == "work"
    beyond = judged.is_general and (not clause.numbers or _compared(clause) is not None)
    lesson = works and (beyond or not (heard.task or clause.numbers))
    if is_kept_anyway(slot_of(clause)) or may_take_back(clause.text) or _overlaps(judged.span, kept):
        return 0.0
    if heard.asks or _only_points(clause):
        return LEAST_IN_DOUBT
    return 0.0 if lesson else LEAST_IN_DOUBT if works else LEAST_ALONE


def _selected(found: Sequence[_Found], least: Sequence[float], subject: str) -> list[_Found]:
    """The statements that are worth their place, with those that go with them."""
    return [
        found[each.first]._replace(span=(found[each.first].span[0], found[each.last].span[1]), content=each.text)
        for each in select_statements([each.content for each in found], least, subject)
    ]


def _compared(clause: Doc) -> Aspect | None:
    """Misconception or understanding that a comparison of two numbers shows; None where nothing is compared."""
    stated = stated_comparisons(clause.text)
    if not stated:
        return None
    return Aspect.UNDERSTANDING if all(each.holds for each in stated) else Aspect.MISCONCEPTION


class _Judged(NamedTuple):
    """A clause, the chances of what it tells, in the order of `CLAUSE_KINDS`, and what the reader makes of it."""

    span: SentenceSpan
    clause: Doc
    chances: NDArray[np.float64]
    reading: MessageReading

    @property
    def kind(self) -> str:
        return CLAUSE_KINDS[1 + int(self.chances[1:].argmax())]

    @property
    def is_general(self) -> bool:
        """True of a statement about the subject matter that goes beyond one exercise, whatever numbers it names."""
        return self.reading.passes >= GENERAL_PASSES and self.reading.likely_kind is MemoryKind.CONCEPT

    def is_beyond(self, heard: Heard) -> bool:
        """True of a general statement that is not about the numbers of the exercise it belongs to."""
        of_numbers = heard.task and self.clause.numbers and _compared(self.clause) is None
        return self.is_general and not of_numbers

    @property
    def personal(self) -> float:
        return float(1 - self.chances[0] - self.chances[CLAUSE_KINDS.index("work")])

    def is_of_life(self, heard: Heard) -> bool:
        """True of a clause that surely tells of somebody's life, whatever numbers it names, outside an exercise."""
        return not heard.task and self.personal >= OF_LIFE and _WORK.search(self.clause.text) is None

    def is_worth_keeping(self, least: float) -> bool:
        of_work = self.kind == "work" and 1 - self.chances[0] >= WORK_WORTH
        return self.personal >= least or bool(of_work)


def _is_left_out(clause: Doc, *, judges: bool) -> bool:
    """True of a question, a request to forget, and of what says next to nothing."""
    text = clause.text
    return (
        is_question(clause)
        or text.rstrip().endswith("?")
        or not (_says_enough(clause, judges=judges) or is_kept_anyway(slot_of(clause)))
        or bool(retractions(text))
        or overrides(clause)
        or _ASKS_LISTENER.match(clause.plain) is not None
    )


def _is_step(clause: Doc, heard: Heard, *, reckons: bool) -> bool:
    """True of a step of a sum, and of what says nothing beyond the exercise."""
    text = clause.text
    if _WORK.search(text) is not None or (reckons and _DIGIT.search(text) is not None):
        return True
    return bool((reckons or heard.task) and _is_of_task(clause, heard))


def _least_worth(clause: Doc, heard: Heard) -> float:
    """Chance from which a clause is kept: more where it speaks to the listener, or names nobody and no time."""
    words = frozenset(clause.plain_words)
    own = not words.isdisjoint(FIRST_PERSON | KIN) or clause.entities or clause.time_words or clause.numbers
    of_others = not (own or heard.observed) or not words.isdisjoint(SECOND_PERSON)
    alone, other = (WORTH, WORTH_OF_OTHERS) if _judges(heard) else (WORTH_ALONE, WORTH_OF_OTHERS_ALONE)
    return other if of_others else alone


def _is_idle(judged: _Judged, heard: Heard, *, first: bool) -> bool:
    """True of a clause of talk that only keeps it going, or that airs a view, names nobody and tells nothing of who
    has it."""
    text = judged.clause.text
    if heard.speaker is None or is_shown(text) or _asked(text, heard, first=first):
        return False
    kind, _ = talk_of(judged.clause, judged.reading)
    view = kind is TalkKind.OPINION and judged.personal < VIEW_WORTH
    return kind in IDLE or (view and not judged.clause.entities)


def _is_of_task(clause: Doc, heard: Heard) -> bool:
    """True if a clause at work says nothing beyond its exercise: how one began, that it makes sense, a mistake."""
    if _NARRATES.search(clause.plain):
        return True
    known = Doc(heard.task).stems
    words = [word for word in _content(clause) if word not in LESSON_WORDS]
    rest = words if LAPSE.search(clause.plain) else [word for word in words if stem(word) not in known]
    return sum(map(word_rarity, rest)) < LEAST_RARITY


def _retells(clause: Doc, task: str) -> bool:
    """True of a clause at work that only narrates how one began, or says again what the task says."""
    stems = clause.stems
    known = len(stems & Doc(task).stems)
    return _NARRATES.search(clause.plain) is not None or (known >= RETOLD_STEMS and known >= RETOLD * len(stems))


def _content(clause: Doc) -> list[str]:
    return [word for word in clause.plain_words if word[0].isalpha() and len(word) > 1 and word not in STOP_WORDS]


def _says_enough(clause: Doc, *, judges: bool) -> bool:
    """True if a clause has more than a very common content word: "dyslexic" says enough, "sure" does not."""
    least = LEAST_RARITY_JUDGED if judges else LEAST_RARITY
    return (judges or not _only_points(clause)) and sum(map(word_rarity, _content(clause))) >= least


def _only_points(clause: Doc) -> bool:
    """True of a clause of few words that ends by pointing at something: "I'm good at it"."""
    return _POINTS.search(clause.plain) is not None and len(_content(clause)) < POINTING_WORDS


def _is_of_listener(clause: Doc) -> bool:
    """True if a clause tells of whom it is said to, and of nobody else: praise and wishes."""
    words = frozenset(clause.plain_words)
    return not words.isdisjoint(SECOND_PERSON) and words.isdisjoint(FIRST_PERSON) and not clause.entities


def _joined(found: Sequence[_Found]) -> _Found:
    """Several statements as one, of the kind of the first."""
    content = " ".join(each.content for each in found)
    return found[0]._replace(span=(found[0].span[0], found[-1].span[1]), content=content)


def _overlaps(span: SentenceSpan, kept: Sequence[Reminder]) -> bool:
    return any(_meet(span, (each.start, each.end)) for each in kept)


def _meet(one: SentenceSpan, other: SentenceSpan) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _statement(text: str, heard: Heard, asked: str, asking: str) -> str:
    """A clause as a statement; one that says too little alone stands with the question it answers, or goes with."""
    who = _who(heard)
    said = retold(text, who, heard.at)
    if said and asking:
        return f"Asking “{cleaned(asking)}”, {said.replace(ANYONE, ANYONE.lower()) if who == ANYONE else said}"
    return f"Asked “{asked}”: {said}" if asked and said else said


def _own_questions(doc: Doc, judged: Sequence["_Judged"]) -> dict[SentenceSpan, SentenceSpan]:
    """The clauses that point at what the question just before them names, with that: "you know U2? they rock"."""
    found = {}
    for before, each in pairwise(judged):
        question = Doc(doc.text[slice(*before.span)])
        if _POINTS_BACK.match(each.clause.text) and is_question(question) and _says_enough(question, judges=True):
            found[each.span] = before.span
    return found


def _asked(text: str, heard: Heard, *, first: bool) -> str:
    """The question that the first clause of a message answers, where it says too little alone; else empty."""
    leans = _ELLIPTIC.match(text) or _LEANS_BACK.match(text) or is_fragment(Doc(text))
    asked = last_question(heard.before) if first and leans else ""
    # What is asked whatever was said explains nothing.
    return "" if asked in (*NEXT, *CHECKS) else asked


def _held(content: str, heard: Heard, aspect: Aspect) -> str:
    """What somebody holds to be so, right or wrong."""
    verb = "thinks" if aspect is Aspect.MISCONCEPTION else "understands"
    who = _who(heard)
    return content.replace(f"{who} says that", f"{who} {verb} that", 1).replace(f"{who} says:", f"{who} {verb}:", 1)


def _foreign(doc: Doc, heard: Heard) -> list[Extract]:
    """What is said in a language that is not read: whole, as it was said."""
    found = []
    for start, end in chunks(doc, heard.passes):
        piece = Doc(cleaned(doc.text[start:end]))
        found.append(
            Extract(
                start,
                end,
                piece.text,
                Modality.SEMANTIC,
                MemoryKind.CONCEPT,
                confidence=STATED_CONFIDENCE,
                about=_topics(piece),
            )
        )
    return found


def _memory(found: _Found, quote: SentenceSpan, heard: Heard) -> Extract:
    doc = Doc(cleaned(heard.text[slice(*found.span)]))
    start, end = quote
    slot = slot_of(found.clause or doc, heard.speaker)
    modality, kind = _sort(found)
    speaker = (heard.speaker or "").casefold()
    named = tuple(entity for entity in doc.entities if entity.name.casefold() != speaker)
    return Extract(
        start,
        end,
        found.content,
        modality,
        kind,
        confidence(doc),
        slot if kind is MemoryKind.TRAIT or is_state(slot) else None,
        named,
        _topics(doc),
        found.aspect,
    )


def _sort(found: _Found) -> tuple[Modality, MemoryKind]:
    """Modality and kind, as the reader sees them; what is shown at work is knowledge of how, or that."""
    if found.reading is None or (found.kind == "work" and found.aspect is not None):
        how = OPERATION.search(found.content) is not None
        return (Modality.PROCEDURAL if how else Modality.SEMANTIC), MemoryKind.CONCEPT
    kind = found.reading.likely_kind
    if found.kind == "trait" and kind is MemoryKind.CONCEPT:
        kind = MemoryKind.TRAIT
    return found.reading.likely_modality, kind


def _can_be_read(doc: Doc) -> bool:
    """True if the rules, which are for English, apply; to numbers and single words they always do."""
    words = [word.split("'")[0] for word in doc.plain_words[:LANGUAGE_WORDS] if word[0].isalpha()]
    if not words or (len(words) <= FEW_LANGUAGE_WORDS and doc.text.isascii()):
        return True
    known = sum(map(is_known, words)) / len(words)
    light = sum(word in STOP_WORDS for word in words) / len(words)
    return (known >= 0.6 and light >= 0.15) or (known >= 0.8 and doc.text.isascii())


def _topics(doc: Doc) -> tuple[str, ...]:
    """Topics of a text, from its key phrases; bare numbers are no topic."""
    phrases = doc.key_phrases(2 * TOPICS)
    return tuple(phrase for phrase in phrases if content_words(Doc(phrase)))[:TOPICS]
