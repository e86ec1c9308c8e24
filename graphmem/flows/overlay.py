"""The overlay: what a student knows of the institution's world, and what could come next (spec 11)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from graphmem.app import Graphmem
from graphmem.errors import InvalidInput, NotFound
from graphmem.flows.familiarity_plan import fades_at, familiarity_at, retained, trend_at
from graphmem.flows.world_plan import GRADES
from graphmem.model import Concept, ConceptProgress, Known, Observation, Session, Who
from graphmem.model.fields import documented
from graphmem.store import overlays
from graphmem.store.world import list_through_grade
from graphmem.validation import checked_id, checked_text

MOST_EVIDENCE = 20
"""Most memories that are told as evidence of a concept's practice."""
WELL_ENOUGH = 0.3
"""Familiarity below which a practised concept is no ground for what needs it: failed at last, or long forgotten."""
NOTES_CHARACTERS = 2_000
"""Longest notes on a concept."""


@dataclass(frozen=True)
class OverlayPage:
    """Some known concepts, how many there are, all edges found, and where the next page begins."""

    items: tuple[Known, ...] = field(metadata=documented("Known concepts of this page, by id."))
    total: int = field(metadata=documented("Known concepts in all pages, 0 or more."))
    edge_ids: tuple[str, ...] = field(metadata=documented("All edges of the world that the student found."))
    next: str | None = field(metadata=documented("Value of `after` for the next page; null on the last."))


async def reveal(
    gm: Graphmem,
    session: Session,
    ids: Sequence[str],
    edge_ids: Sequence[str] = (),
    *,
    through_grade: int | None = None,
) -> OverlayPage:
    """Put concepts, and edges between known ones, into a student's overlay; what is there stays as it is.

    Parameters
    ----------
    gm : Graphmem
    session : Session
    ids, edge_ids : at most settings.page_size each
    through_grade : 1 to 20; every concept of this and lower grades is revealed as well; None: none

    Raises
    ------
    InvalidInput    an id is not of the world, or an edge's ends are not known; nothing was revealed
    NotFound        there is no such student

    Source: spec 11.
    """
    for name, given in (("conceptIds", ids), ("edgeIds", edge_ids)):
        if len(given) > gm.settings.page_size:
            raise InvalidInput(f"There are {len(given)} {name}: send at most {gm.settings.page_size} at once.")
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
    return await list_overlay(gm, session, gm.settings.page_size, None, session)


async def set_attitude(
    gm: Graphmem,
    session: Session,
    concept_id: str,
    attitude: float | None = None,
    familiarity: float | None = None,
    notes: str | None = None,
) -> Known:
    """Set what a student thinks of a known concept, and how well it is known; None leaves what is there.

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
    return _as_of(known, now)


async def practise(gm: Graphmem, who: Who, observations: Sequence[Observation]) -> None:
    """Let what was practised in stored observations count: concepts are revealed, and more or less familiar.

    Source: spec 11.
    """
    practised = [(observed, each) for observed in observations for each in observed.practised]
    if practised:
        await overlays.save_practice(gm.graph, who, practised, gm.clock(), retained)
        gm.cache.drop_fog(who)


async def list_progress(gm: Graphmem, who: Who, first: int, after: str | None = None) -> list[ConceptProgress]:
    """How a student is getting on with known concepts, what is due soonest first, what was never practised last.

    Parameters
    ----------
    gm : Graphmem
    who : Who
    first : 1 to settings.page_size, most concepts
    after : id of the last concept of the page before; nothing comes after one that is not known

    Raises
    ------
    InvalidInput    `first` or `after` will not do

    Source: spec 10, 11.
    """
    if not 1 <= first <= gm.settings.page_size:
        raise InvalidInput(f"first must lie between 1 and {gm.settings.page_size}.")
    place = "" if after is None else checked_id("after", after)
    return await progress_of(gm, who, await overlays.list_due_concepts(gm.graph, who, place, first))


async def progress_of(gm: Graphmem, who: Who, known: Sequence[Known]) -> list[ConceptProgress]:
    """How a student is getting on with some known concepts, in their order."""
    now = gm.clock()
    ids = [each.concept.id for each in known]
    practice, evidence = await asyncio.gather(
        overlays.find_practice(gm.graph, who, ids), overlays.find_evidence(gm.graph, who, ids, MOST_EVIDENCE)
    )
    return [
        ConceptProgress(
            concept=each.concept,
            familiarity=_as_of(each, now).familiarity,
            trend=trend_at(practice.get(each.concept.id, []), now),
            last_practised=None if each.retention is None else each.retention.practised_at,
            due_at=None if each.retention is None else each.retention.due_at,
            fades_at=None if each.retention is None else fades_at(each.retention),
            evidence=evidence.get(each.concept.id, ()),
        )
        for each in known
    ]


def _as_of(known: Known, now: datetime) -> Known:
    """A known concept as familiar as it is now."""
    if known.retention is None:
        return known
    return replace(known, familiarity=familiarity_at(known.retention, now))


async def list_overlay(
    gm: Graphmem, who: Who, first: int, after: str | None, session: Session | None = None
) -> OverlayPage:
    """A page of the concepts that a student knows, by id; notes only in a session.

    Raises
    ------
    InvalidInput    `first` is not within 1 to settings.page_size, or `after` will not do
    """
    if not 1 <= first <= gm.settings.page_size:
        raise InvalidInput(f"first must lie between 1 and {gm.settings.page_size}.")
    place = "" if after is None else checked_id("after", after)
    total, found = await overlays.list_known(gm.graph, who, place, first + 1, session)
    now = gm.clock()
    items = tuple(_as_of(each, now) for each in found[:first])
    edge_ids = tuple(await overlays.list_discovered(gm.graph, who))
    return OverlayPage(items, total, edge_ids, items[-1].concept.id if len(found) > first else None)


async def find_frontier(gm: Graphmem, who: Who, limit: int) -> list[Concept]:
    """Find unknown concepts all of whose prerequisites are known.

    The lowest grade comes first, within a grade those with most prerequisites.

    A prerequisite that was only revealed counts as known; one that was practised or set by hand counts while its
    familiarity is 0.3 or more.

    Raises
    ------
    InvalidInput    `limit` is not within 1 to settings.page_size

    Source: spec 11.
    """
    if not 1 <= limit <= gm.settings.page_size:
        raise InvalidInput(f"limit must lie between 1 and {gm.settings.page_size}.")
    now = gm.clock()
    held = await overlays.list_retentions(gm.graph, who)
    weak = [id for id, retention in held.items() if familiarity_at(retention, now) < WELL_ENOUGH]
    return await overlays.list_frontier(gm.graph, who, weak, limit)
