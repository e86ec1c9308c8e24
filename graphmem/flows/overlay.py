"""The overlay: concepts that a student knows, how familiar they are, and the fog over the others (spec 11)."""

import asyncio
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from time import monotonic

from fsrs import Card, Rating, Scheduler

from graphmem.app import Graphmem
from graphmem.cache import StudentState
from graphmem.errors import InvalidInput, NotFound
from graphmem.flows.world import GRADES
from graphmem.model import (
    Concept,
    ConceptProgress,
    Known,
    Observation,
    Practice,
    PracticeOutcome,
    Retained,
    Session,
    Vector,
    Who,
)
from graphmem.ports import Embedder, OnToken
from graphmem.search.fog import Fog, OpenWorld
from graphmem.store import overlays
from graphmem.store.world import list_names, list_through_grade
from graphmem.text.concepts import ConceptNames, NamedSpan, Sense, is_action, sense_texts
from graphmem.text.words import SentenceSpan, fine_tokens, sentence_spans, word_rarity
from graphmem.validation import PAGE_SIZE, checked_count, checked_id, checked_text

TREND_DAYS = 28
"""Days over which a trend is taken."""
MASTERY_UP, MASTERY_DOWN = 0.4, 0.2
"""Share of the way to an outcome that mastery moves with each practice; chosen on the students of `bench practice`."""
FADED_RECALL = 0.7
"""Chance of recall below which a concept counts as forgotten."""
LONGEST_DAYS = 36_500
"""Days that are looked ahead; what lasts longer fades then."""
RATINGS = {
    PracticeOutcome.AGAIN: Rating.Again,
    PracticeOutcome.HARD: Rating.Hard,
    PracticeOutcome.GOOD: Rating.Good,
    PracticeOutcome.EASY: Rating.Easy,
}
SUCCESS = {
    PracticeOutcome.AGAIN: 0.0,
    PracticeOutcome.HARD: 0.5,
    PracticeOutcome.GOOD: 1.0,
    PracticeOutcome.EASY: 1.0,
}
"""Mastery that an outcome speaks for."""
SCHEDULER = Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)
"""The published curve; `docs/world.md` lists its parameters."""
MOST_EVIDENCE = 20
"""Most memories that are reported as evidence of a concept's practice."""
WELL_ENOUGH = 0.3
"""Familiarity below which a practised concept is no ground for what needs it: failed at last, or long forgotten."""
NOTES_CHARACTERS = 2_000
"""Longest notes on a concept."""
DAYS_AHEAD = 365
"""Most days that are looked ahead."""
FRESH_SECONDS = 1.0
"""Seconds for which a cached world and overlay are used without checking their versions."""
EMBEDDED_AT_ONCE = 256
"""Concepts whose meaning is embedded at once."""
WORDS_JUDGED = 2
"""Words of the shortest piece of a reply that is judged, and shown, before what follows it is known."""
LOOKED_BACK = 80
"""Characters of a reply before a sentence that are read with it, so that no name is cut in two."""


def retained(history: Sequence[Practice]) -> Retained | None:
    """Return how a concept is held after all practice there was; None without any.

    Parameters
    ----------
    history : in any order; a familiarity that was set is one practice, which sets the mastery

    Source: spec 11; Ye et al. 2024, FSRS-6.

    Examples
    --------
    >>> from datetime import UTC
    >>> first = datetime(2026, 1, 1, tzinfo=UTC)
    >>> held = retained([Practice(first, PracticeOutcome.GOOD)])
    >>> held.mastery, round(held.stability, 2), held.due_at.day
    (0.4, 2.31, 3)
    """
    card, mastery = Card(card_id=0), 0.0
    for practice in sorted(history, key=lambda each: (each.at, each.outcome.value)):
        card, _ = SCHEDULER.review_card(card, RATINGS[practice.outcome], practice.at)
        to = SUCCESS[practice.outcome]
        step = MASTERY_UP if to > mastery else MASTERY_DOWN
        mastery = mastery + step * (to - mastery) if practice.set_to is None else practice.set_to
    if card.last_review is None:
        return None
    return Retained(mastery, float(card.stability or 0.0), float(card.difficulty or 0.0), card.last_review, card.due)


def familiarity_at(retention: Retained | None, at: datetime) -> float:
    """Return the familiarity at a moment, 0 to 1; 0 without any practice.

    Examples
    --------
    >>> from datetime import UTC
    >>> first = datetime(2026, 1, 1, tzinfo=UTC)
    >>> held = retained([Practice(first, PracticeOutcome.GOOD), Practice(first, PracticeOutcome.GOOD)])
    >>> [round(familiarity_at(held, first + timedelta(days=days)), 2) for days in (0, 7, 30, 365)]
    [0.64, 0.52, 0.43, 0.29]
    """
    return 0.0 if retention is None else retention.mastery * recall_at(retention, at)


def recall_at(retention: Retained, at: datetime) -> float:
    """Return the chance that a practised concept is recalled at a moment, above 0 to 1; it changes from day to day.

    Examples
    --------
    >>> from datetime import UTC
    >>> first = datetime(2026, 1, 1, tzinfo=UTC)
    >>> round(recall_at(retained([Practice(first, PracticeOutcome.AGAIN)]), first + timedelta(days=7)), 2)
    0.58
    """
    card = Card(card_id=0, stability=retention.stability, last_review=retention.practised_at)
    return float(SCHEDULER.get_card_retrievability(card, max(at, retention.practised_at)))


def fades_at(retention: Retained) -> datetime:
    """When the chance of recall falls below 0.7 unless the concept is practised, to the day.

    Examples
    --------
    >>> from datetime import UTC
    >>> first = datetime(2026, 1, 1, tzinfo=UTC)
    >>> fades_at(retained([Practice(first, PracticeOutcome.GOOD)])).date().isoformat()
    '2026-01-23'
    """

    def faded(days: int) -> bool:
        return recall_at(retention, retention.practised_at + timedelta(days=days)) < FADED_RECALL

    return retention.practised_at + timedelta(days=bisect_left(range(LONGEST_DAYS), True, key=faded))


def trend_at(history: Sequence[Practice], at: datetime) -> float:
    """Return how much more familiar a concept is than four weeks ago, -1 to 1.

    Examples
    --------
    >>> from datetime import UTC
    >>> now = datetime(2026, 3, 1, tzinfo=UTC)
    >>> trend_at([Practice(now, PracticeOutcome.GOOD)], now)
    0.4
    """
    then = at - timedelta(days=TREND_DAYS)
    before = retained([practice for practice in history if practice.at <= then])
    return familiarity_at(retained(history), at) - familiarity_at(before, then)


@dataclass(frozen=True)
class OverlayPage:
    """Some known concepts, how many there are, all edges found, and where the next page begins."""

    items: tuple[Known, ...]
    """Known concepts of this page, by id."""
    total: int
    """Known concepts in all pages, 0 or more."""
    edge_ids: tuple[str, ...]
    """All edges of the world that the student found."""
    next: str | None
    """Value of `after` for the next page; null on the last."""


async def reveal(
    gm: Graphmem,
    session: Session,
    ids: Sequence[str],
    edge_ids: Sequence[str] = (),
    *,
    through_grade: int | None = None,
) -> OverlayPage:
    """Put concepts, and edges between known ones, into a student's overlay; existing ones stay unchanged.

    Parameters
    ----------
    gm : Graphmem
    session : Session
    ids, edge_ids : at most PAGE_SIZE each
    through_grade : 1 to 20; every concept of this and lower grades is revealed as well; None: none

    Raises
    ------
    InvalidInput    an id is not of the world, or an edge's ends are not known; nothing was revealed
    NotFound        there is no such student

    Source: spec 11.
    """
    for name, given in (("conceptIds", ids), ("edgeIds", edge_ids)):
        if len(given) > PAGE_SIZE:
            raise InvalidInput(f"There are {len(given)} {name}: send at most {PAGE_SIZE} at once.")
        for each in given:
            checked_id(name, each)
    if unknown := await overlays.list_unknown_concepts(gm.graph, session.institution, ids):
        raise InvalidInput(f"There is no concept {unknown[0]!r}: import it first.")
    if through_grade is not None:
        if through_grade not in GRADES:
            raise InvalidInput(f"throughGrade must lie between {GRADES[0]} and {GRADES[-1]}.")
        ids = [*ids, *await list_through_grade(gm.graph, session.institution, through_grade)]
    missing = await overlays.reveal_together(gm.graph, session, ids, edge_ids, gm.clock())
    gm.cache.drop_fog(session)
    if missing is None:
        raise NotFound("There is no such student.")
    if missing:
        told = f"There is no edge {missing[0]!r} between concepts that the student knows"
        raise InvalidInput(f"{told}: reveal them first. Nothing was revealed.")
    return await list_overlay(gm, session, PAGE_SIZE, None, session)


async def set_attitude(
    gm: Graphmem,
    session: Session,
    concept_id: str,
    attitude: float | None = None,
    familiarity: float | None = None,
    notes: str | None = None,
) -> Known:
    """Set attitude and familiarity of a known concept; None leaves a value unchanged.

    Parameters
    ----------
    gm : Graphmem
    session : Session
    concept_id : of a concept in the overlay
    attitude : -1 to 1
    familiarity : 0 to 1
    notes : 1 to 2,000 characters; sealed

    Raises
    ------
    InvalidInput    a value will not do
    NotFound        the student knows no such concept

    Source: spec 11.
    """
    checked_id("conceptId", concept_id)
    for name, value, low in (("attitude", attitude, -1.0), ("familiarity", familiarity, 0.0)):
        if value is not None and not low <= value <= 1.0:
            raise InvalidInput(f"{name} must lie between {low:g} and 1.")
    if notes is not None:
        checked_text("notes", notes, NOTES_CHARACTERS)
    now = gm.clock()
    known = await overlays.save_attitude(gm.graph, session, concept_id, attitude, familiarity, notes, now, retained)
    if known is None:
        raise NotFound("The student knows no such concept: reveal it first.")
    return as_of(known, now)


async def practise(gm: Graphmem, who: Who, observations: Sequence[Observation]) -> None:
    """Count the practice in stored observations: concepts are revealed, and more or less familiar.

    Source: spec 11.
    """
    practised = [(observed, each) for observed in observations for each in observed.practised]
    if practised:
        await overlays.save_practice(gm.graph, who, practised, gm.clock(), retained)
        gm.cache.drop_fog(who)


async def list_progress(gm: Graphmem, who: Who, first: int, after: str | None = None) -> list[ConceptProgress]:
    """Return a student's progress with known concepts: soonest due first, never practised last.

    Parameters
    ----------
    gm : Graphmem
    who : Who
    first : 1 to PAGE_SIZE, most concepts
    after : id of the last concept of the page before; nothing comes after one that is not known

    Raises
    ------
    InvalidInput    `first` or `after` will not do

    Source: spec 10, 11.
    """
    checked_count("first", first, PAGE_SIZE)
    place = "" if after is None else checked_id("after", after)
    return await progress_of(gm, who, await overlays.list_due_concepts(gm.graph, who, place, first))


async def progress_of(gm: Graphmem, who: Who, known: Sequence[Known]) -> list[ConceptProgress]:
    """Return how a student is getting on with some known concepts, in their order."""
    now = gm.clock()
    ids = [each.concept.id for each in known]
    practice, evidence = await asyncio.gather(
        overlays.find_practice(gm.graph, who, ids), overlays.find_evidence(gm.graph, who, ids, MOST_EVIDENCE)
    )
    return [
        ConceptProgress(
            concept=each.concept,
            familiarity=as_of(each, now).familiarity,
            trend=trend_at(practice.get(each.concept.id, []), now),
            last_practised=None if each.retention is None else each.retention.practised_at,
            due_at=None if each.retention is None else each.retention.due_at,
            fades_at=None if each.retention is None else fades_at(each.retention),
            evidence=evidence.get(each.concept.id, ()),
        )
        for each in known
    ]


def as_of(known: Known, now: datetime) -> Known:
    """Return a known concept as familiar as it is now."""
    if known.retention is None:
        return known
    return replace(known, familiarity=familiarity_at(known.retention, now))


async def list_overlay(
    gm: Graphmem, who: Who, first: int, after: str | None, session: Session | None = None
) -> OverlayPage:
    """Return a page of the concepts that a student knows, by id; notes only in a session.

    Raises
    ------
    InvalidInput    `first` is not within 1 to PAGE_SIZE, or `after` will not do
    """
    checked_count("first", first, PAGE_SIZE)
    place = "" if after is None else checked_id("after", after)
    total, found = await overlays.list_known(gm.graph, who, place, first + 1, session)
    now = gm.clock()
    items = tuple(as_of(each, now) for each in found[:first])
    edge_ids = tuple(await overlays.list_discovered(gm.graph, who))
    return OverlayPage(items, total, edge_ids, items[-1].concept.id if len(found) > first else None)


async def find_frontier(gm: Graphmem, who: Who, limit: int) -> list[Concept]:
    """Find unknown concepts all of whose prerequisites are known.

    The lowest grade comes first, within a grade those with most prerequisites.

    A prerequisite that was only revealed counts as known; one that was practised or set by hand counts while its
    familiarity is 0.3 or more.

    Raises
    ------
    InvalidInput    `limit` is not within 1 to PAGE_SIZE

    Source: spec 11.
    """
    checked_count("limit", limit, PAGE_SIZE)
    now = gm.clock()
    held = await overlays.list_retentions(gm.graph, who)
    weak = [id for id, retention in held.items() if familiarity_at(retention, now) < WELL_ENOUGH]
    return await overlays.list_frontier(gm.graph, who, weak, limit)


@dataclass(frozen=True)
class ProgressPage:
    """Progress with some concepts, how many there are, and where the next page begins."""

    items: tuple[ConceptProgress, ...]
    """Concepts of this page."""
    total: int
    """Concepts in all pages, 0 or more."""
    next: str | None
    """Value of `after` for the next page; null on the last."""


async def list_fading(gm: Graphmem, who: Who, days: int, first: int, after: str | None = None) -> ProgressPage:
    """Return concepts whose chance of recall falls below 0.7 in some days unless they are practised, the soonest first.

    Concepts already below are not among them: they are forgotten, and `list_progress` returns them.

    Parameters
    ----------
    gm : Graphmem
    who : Who
    days : 1 to 365
    first : 1 to PAGE_SIZE
    after : `next` of the page before

    Raises
    ------
    InvalidInput    a number is out of range, or the concept of `after` is no longer among them

    Source: spec 10, 11.
    """
    checked_count("first", first, PAGE_SIZE)
    checked_count("days", days, DAYS_AHEAD)
    now = gm.clock()
    until = now + timedelta(days=days)
    fading = sorted(
        (fades_at(held), id)
        for id, held in (await overlays.list_retentions(gm.graph, who)).items()
        # The moment itself takes a search, so it is looked for only where it is near.
        if recall_at(held, now) >= FADED_RECALL > recall_at(held, until)
    )
    ids = [id for _, id in fading]
    if after is not None and after not in ids:
        raise InvalidInput("The concept of `after` is no longer about to be forgotten: begin with the first page.")
    start = 0 if after is None else ids.index(after) + 1
    shown = ids[start : start + first]
    known = {each.concept.id: each for each in await overlays.list_held(gm.graph, who, shown)}
    items = tuple(await progress_of(gm, who, [known[id] for id in shown if id in known]))
    return ProgressPage(items, len(ids), ids[start + first - 1] if start + first < len(ids) else None)


async def fog_of(gm: Graphmem, who: Who, versions: tuple[int, int] | None = None) -> Fog:
    """Return the fog of a student, read where it is missing or of other versions.

    Parameters
    ----------
    gm : Graphmem
    who : Who
    versions : of the world and of the overlay, where they were just read; None: those of the last second will do

    Raises
    ------
    NotFound        there is no such student
    Unavailable     Neo4j does not answer
    """
    state = gm.cache.state(who)
    if versions is None and state.fog is not None and _is_fresh(gm, who, state):
        return state.fog
    versions = versions or await overlays.find_versions(gm.graph, who)
    if versions is None:
        raise NotFound("There is no such student.")
    world, overlay = versions
    fog = state.fog
    if fog is None or (fog.world.version, fog.version) != versions:
        opened = await _world(gm, who.institution, world)
        # The versions were read first: concepts revealed meanwhile are read once more, never missed.
        known = frozenset(await overlays.list_known_ids(gm.graph, who)) if opened.names else frozenset()
        fog = state.fog = Fog(opened, known, overlay)
    state.fog_seen = monotonic()
    return fog


def _is_fresh(gm: Graphmem, who: Who, state: StudentState) -> bool:
    """Return whether a fog was looked at just now, and this process has changed no world since."""
    held = None if state.fog is None else state.fog.world
    return monotonic() - state.fog_seen < FRESH_SECONDS and held is gm.worlds.get(who.institution)


async def _world(gm: Graphmem, institution: str, version: int) -> OpenWorld:
    """Return the names of a world, from this process's cache where it has this version."""
    async with gm.worlds.lock(institution):
        held = gm.worlds.get(institution)
        if held is None or held.version != version:
            concepts = await list_names(gm.graph, institution)
            names = await asyncio.to_thread(ConceptNames, concepts)
            held = OpenWorld(version, names, await read_senses(gm.embedder, concepts, names))
            gm.worlds[institution] = held
        return held


async def read_senses(
    embedder: Embedder, concepts: Sequence[Concept], names: ConceptNames
) -> dict[tuple[str, str], Sense]:
    """Return what common words mean as names of concepts, by concept id and word."""
    by_id, common, senses = {each.id: each for each in concepts}, names.common_words, {}
    for i in range(0, len(common), EMBEDDED_AT_ONCE):
        some = common[i : i + EMBEDDED_AT_ONCE]
        texts = [text for concept_id, word in some for text in sense_texts(by_id[concept_id], word)]
        vectors = await embedder.embed(texts)
        for place, key in enumerate(some):
            meaning, description, word = vectors[3 * place : 3 * place + 3]
            plainness, is_one = float(word @ description), is_action(by_id[key[0]])
            senses[key] = Sense(meaning, word, plainness, word_rarity(key[1]), is_one)
    return senses


async def hidden_in(gm: Graphmem, fog: Fog, texts: Sequence[str]) -> list[tuple[NamedSpan, ...]]:
    """For each text, the names in it that mean a hidden concept; common words are judged by their sentence."""
    if not fog:
        return [()] * len(texts)
    found = [fog.hidden(text) for text in texts]
    doubtful = [
        (text[start:end], start, end, row)
        for row, (text, mentions) in enumerate(zip(texts, found, strict=True))
        if any(m.is_common for m in mentions)
        for start, end in sentence_spans(text)
        if any(m.is_common and start <= m.start < end for m in mentions)
    ]
    vectors = await gm.embedder.embed([sentence for sentence, *_ in doubtful]) if doubtful else ()
    places = [(row, start, end, vector) for (_, start, end, row), vector in zip(doubtful, vectors, strict=True)]

    def vector_of(row: int, mention: NamedSpan) -> Vector | None:
        return next((v for r, start, end, v in places if r == row and start <= mention.start < end), None)

    return [tuple(m for m in mentions if fog.is_meant(m, vector_of(row, m))) for row, mentions in enumerate(found)]


class ReplyFilter:
    """A reply on its way to the student, sentence by sentence; what names a hidden concept is not let through.

    Called with the pieces of a reply as they are written; a sentence is shown once it is whole and known to be clear.

    Parameters
    ----------
    gm : Graphmem
    fog : Fog, not empty
    on_token : called with the text let through; None where nobody listens
    """

    def __init__(self, gm: Graphmem, fog: Fog, on_token: OnToken | None) -> None:
        self._gm, self._fog, self._on_token = gm, fog, on_token
        self._raw = self._held = self._shown = ""
        self._waiting: list[str] = []
        self._said_instead = False

    async def __call__(self, piece: str) -> None:
        """Take a piece of the reply."""
        self._raw += piece
        self._held += piece
        await self._pass_on(sentence_spans(self._held)[1:])

    async def finish(self, reply: str) -> str:
        """Return the reply as it was let through.

        Parameters
        ----------
        reply : str, all of it; text not taken in pieces yet is let through now
        """
        if not self._raw:
            self._raw = self._held = reply
        await self._pass_on([*sentence_spans(self._held)[1:], (len(self._held), len(self._held))])
        # A mind that was given up half way is followed by another, whose words are what counts.
        return self._shown if self._raw == reply else await ReplyFilter(self._gm, self._fog, None).finish(reply)

    async def _pass_on(self, starts: Sequence[SentenceSpan]) -> None:
        """Let through, or hold back, the text before each start."""
        done = 0
        for start, end in starts:
            piece = self._held[done:start]
            self._waiting.append(piece)
            done = start
            # A line of a single word may be a piece of a name: it waits for the next line.
            words = [word for word in fine_tokens(piece) if not word.text.isdigit()]
            if len(words) >= WORDS_JUDGED or start == end:
                await self._judge(self._waiting)
                self._waiting = []
        self._held = self._held[done:]

    async def _judge(self, pieces: Sequence[str]) -> None:
        """Show the pieces that contain no hidden name, whole or in part."""
        before = self._shown[-LOOKED_BACK:]
        (found,) = await hidden_in(self._gm, self._fog, [before + "".join(pieces)])
        start = len(before)
        for piece in pieces:
            end = start + len(piece)
            shown = piece
            if any(mention.start < end and start < mention.end for mention in found):
                shown = "" if self._said_instead else f"{self._gm.settings.not_yet}{piece[len(piece.rstrip()) :]}"
                self._said_instead = True
            start = end
            self._shown += shown
            if shown and self._on_token is not None:
                await self._on_token(shown)
