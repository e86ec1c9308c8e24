"""Observations: what lessons, teachers, systems and other speakers bring, also while the student is locked (spec 7)."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from graphmem.app import Graphmem
from graphmem.errors import Conflict, InvalidInput, NotFound, RateLimited
from graphmem.flows.overlay import practise
from graphmem.flows.students import check_vouched
from graphmem.maths.importance import SEGMENT_GAP
from graphmem.model import Observation, Source, Who
from graphmem.sealing import StudentLock
from graphmem.store import overlays, sources, students
from graphmem.text.safety import find_danger
from graphmem.validation import (
    CLOCK_SKEW,
    MESSAGE_LIMIT,
    PAGE_SIZE,
    checked_id,
    checked_new_id,
    checked_text,
    checked_time,
)

JOBS_WAITING = 2000
"""Most jobs of one student that may wait; more observations are RATE_LIMITED."""

MOST_PRACTISED = 50
"""Most concepts that are practised in one observation."""
SPEAKER_LIMIT = 100
"""Characters of a speaker's name."""


async def observe(gm: Graphmem, who: Who, observations: Sequence[Observation]) -> list[Source]:
    """Note observations; memories are formed from them while the student's session runs.

    They are sealed so that only the student's session opens them: whoever writes them cannot read them again.

    Parameters
    ----------
    gm : Graphmem
    who : Who
    observations : at most PAGE_SIZE, each with its own kind and ref; the same kind and ref again is the
        same observation and changes nothing; concepts practised in it are revealed, and more or less familiar

    Returns
    -------
    list of Source, one for each observation, in their order

    Raises
    ------
    InvalidInput    one of them will not do; none was stored
    NotFound        there is no such student
    Conflict        the student's public key was changed outside of graphmem; none was stored
    RateLimited     too many jobs of the student wait; none was stored

    Source: spec 7, 14.
    """
    if len(observations) > PAGE_SIZE:
        raise InvalidInput(f"There are {len(observations)} observations: send at most {PAGE_SIZE} at once.")
    enrolled = await students.find_enrolled(gm.graph, who, gm.clock())
    zone = None if enrolled is None else enrolled.student.time_zone
    checked = [_checked_observation(gm, observed, zone) for observed in observations]
    await _check_concepts(gm, who, checked)
    if enrolled is None:
        raise NotFound("There is no such student: enrol the student first.")
    if not checked:
        return []
    check_vouched(gm, who, enrolled.lock)
    told = [
        replace(each, danger=await asyncio.to_thread(find_danger, each.text, each.before or ""))
        for each in _in_context(checked)
    ]
    noted = await sources.save_observations(gm.graph, who, enrolled.lock, told, JOBS_WAITING, gm.clock())
    if noted is None:
        await _check_same_key(gm, who, enrolled.lock)
        raise RateLimited("Too many observations of this student wait: send more once sessions have worked them off.")
    await practise(gm, who, checked)
    return noted


async def _check_same_key(gm: Graphmem, who: Who, lock: StudentLock) -> None:
    """Refuse observations sealed with a public key that was replaced meanwhile."""
    enrolled = await students.find_enrolled(gm.graph, who, gm.clock())
    if enrolled is None or enrolled.lock.public_key != lock.public_key:
        raise Conflict("The student's keys were rotated meanwhile: send the observations again.")


def _checked_observation(gm: Graphmem, observed: Observation, zone: str | None) -> Observation:
    checked_new_id("ref", observed.ref, in_paths=False)
    for practised in observed.practised:
        checked_id("conceptId", practised.concept_id)
    checked_text("text", observed.text, MESSAGE_LIMIT)
    if observed.speaker is not None:
        checked_text("speaker", observed.speaker, SPEAKER_LIMIT)
    return replace(observed, at=checked_time("at", observed.at, gm.clock(), CLOCK_SKEW, zone))


async def _check_concepts(gm: Graphmem, who: Who, observations: Sequence[Observation]) -> None:
    """Refuse practice of concepts that are not in the world."""
    ids = {each.concept_id for observed in observations for each in observed.practised}
    for observed in observations:
        if len(observed.practised) > MOST_PRACTISED:
            told = f"practised has {len(observed.practised)} concepts"
            raise InvalidInput(f"{told}: send at most {MOST_PRACTISED} with one observation.")
    unknown = await overlays.list_unknown_concepts(gm.graph, who.institution, sorted(ids)) if ids else []
    if unknown:
        raise InvalidInput(f"practised: there is no concept {unknown[0]!r}: import it first. Nothing was noted.")


def _in_context(observations: Sequence[Observation]) -> list[Observation]:
    """Return each observation with the one just before it in the same session."""
    told = [observations[0]]
    for before, observed in pairwise(observations):
        follows = not observed.before and 0.0 <= (observed.at - before.at).total_seconds() < SEGMENT_GAP
        told.append(replace(observed, before=before.text) if follows else observed)
    return told
