"""Days are the writer's days: evenings west and mornings east of Greenwich, on the real Neo4j (spec 7, 8, 10)."""

from datetime import UTC, datetime, timedelta

import pytest

from graphmem.app import Graphmem
from graphmem.errors import InvalidInput
from graphmem.flows import students
from graphmem.flows.context import context
from graphmem.flows.ledger import list_entries
from graphmem.flows.observation import observe
from graphmem.jobs.runner import run_jobs
from graphmem.model import Observation, SourceKind, Who
from tests.conftest import PASSWORD, Pupil, another_replica, say

PROMISE = "I promise I will bring the consent form to Ms Hill tomorrow."
LOCAL = [
    # When it was written, the day it was said there, and the end of the next day there, in UTC.
    ("2026-03-03T20:30:00-08:00", None, "2026-03-03", "2026-03-05T08:00:00"),
    ("2026-03-03T23:59:00-05:00", None, "2026-03-03", "2026-03-05T05:00:00"),
    ("2026-06-30T19:00:00-10:00", None, "2026-06-30", "2026-07-02T10:00:00"),
    ("2025-12-31T21:00:00-03:00", None, "2025-12-31", "2026-01-02T03:00:00"),
    ("2026-03-04T06:30:00+09:00", None, "2026-03-04", "2026-03-05T15:00:00"),
    ("2026-03-04T00:10:00+05:30", None, "2026-03-04", "2026-03-05T18:30:00"),
    ("2026-03-01T07:00:00+13:00", None, "2026-03-01", "2026-03-02T11:00:00"),
    ("2026-01-01T01:00:00+01:00", None, "2026-01-01", "2026-01-02T23:00:00"),
    # Without an offset, or in UTC, it is the student's time zone that counts.
    ("2026-07-03T22:15:00", "America/Los_Angeles", "2026-07-03", "2026-07-05T07:00:00"),
    ("2026-07-04T04:15:00+00:00", "America/Los_Angeles", "2026-07-03", "2026-07-05T07:00:00"),
    ("2026-10-24T23:30:00", "Europe/Berlin", "2026-10-24", "2026-10-25T23:00:00"),
    ("2026-11-05T05:30:00", "Asia/Tokyo", "2026-11-05", "2026-11-06T15:00:00"),
]


async def enrolled(gm: Graphmem, institution: str, time_zone: str | None) -> Pupil:
    who = Who(institution, "ann")
    await students.enrol(gm, who, PASSWORD, "Ann", time_zone)
    token, session = await students.open_session(gm, who, PASSWORD)
    return Pupil(who, PASSWORD, session, token)


@pytest.mark.parametrize(("at", "zone", "day", "over"), LOCAL)
@pytest.mark.parametrize("observed", [False, True])
async def test_a_day_is_the_writers_day(
    gm: Graphmem, institution: str, at: str, zone: str | None, day: str, over: str, observed: bool
) -> None:
    moment = datetime.fromisoformat(at)
    later = moment.replace(tzinfo=moment.tzinfo or UTC) + timedelta(hours=15)
    then = another_replica(gm, clock=lambda: later)
    pupil = await enrolled(then, institution, zone)
    if observed:
        await observe(then, pupil.who, [Observation(SourceKind.CHAT, "o1", PROMISE, moment)])
    else:
        await say(then, pupil, PROMISE, at=moment)
    await run_jobs(then, pupil.session)
    (entry,) = await list_entries(then, pupil.session)
    assert entry.expires_at == datetime.fromisoformat(over).replace(tzinfo=UTC)
    shown = (await context(another_replica(then, clock=lambda: later), pupil.session, "What did I promise?")).prompt
    assert f"[episodic, {day}]" in shown


async def test_an_unknown_time_zone_and_a_time_without_one_are_refused(gm: Graphmem, institution: str) -> None:
    for zone in ("Berlin", "Europe/Atlantis", "../etc/passwd", "", "utc+1"):
        with pytest.raises(InvalidInput, match="timeZone"):
            await enrolled(gm, institution, zone)
    assert await students.find_student(gm, Who(institution, "ann")) is None
    pupil, naive = await enrolled(gm, institution, None), datetime.fromisoformat("2026-01-05T09:00:00")
    with pytest.raises(InvalidInput, match="time zone"):
        await say(gm, pupil, PROMISE, at=naive)
    with pytest.raises(InvalidInput, match="time zone"):
        await observe(gm, pupil.who, [Observation(SourceKind.CHAT, "o1", PROMISE, naive)])
    assert await list_entries(gm, pupil.session) == []
