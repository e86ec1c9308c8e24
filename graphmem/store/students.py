"""Students, their locks and sessions, and service tokens in the graph (spec 2, 14, 15)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from graphmem.model import Companion, Erased, Keys, ServiceToken, Session, Student, StudentSummary, Who
from graphmem.sealing import SEALING_OFF, Argon2, Stored, StudentLock
from graphmem.store.graph import Graph, Row
from graphmem.store.nodes import (
    STUDENT_NODE,
    NodeSealer,
    clear_properties,
    from_row,
    moment,
    opened,
    sealed_properties,
    token_text,
)
from graphmem.store.tampering import Damage

DISPLAY_NAME = "display_name"
SEALING_ON = "on"
"""Whether the students of an institution are sealed."""


@dataclass(frozen=True)
class Enrolled:
    """A student as stored, with the values that the password opens; `companion` holds the companion's properties."""

    student: Student
    lock: StudentLock
    sealed_name: Stored | None
    companion: Row = field(repr=False)


async def create(
    graph: Graph, who: Who, keys: Keys, lock: StudentLock, companion: Companion, now: datetime, **more: str | None
) -> bool:
    """Enrol a student; `student/create`. False when somebody of that id is enrolled already, or is being erased.

    Parameters
    ----------
    graph : Graph
    who : Who
    keys : Keys
    lock : what opens them
    companion : Companion
    now : datetime
    more : `display_name` and `time_zone`, where they were given
    """
    student = lock_properties(lock) | {"created_at": now, "time_zone": more.get("time_zone")}
    if (name := more.get(DISPLAY_NAME)) is not None:
        student[DISPLAY_NAME] = NodeSealer(keys, who, "Student", "student").seal(DISPLAY_NAME, name)
    properties = {"id": "companion"} | clear_properties(companion) | _sealed_persona(keys, who, companion)
    return bool(await graph.value(bool, "student/create", who, student=student, companion=properties))


async def settle_sealing(graph: Graph, institution: str, *, clear: bool, now: datetime) -> bool:
    """Record whether an institution's students are stored readable, the first time; `student/settle_sealing`.

    True if they are, by the recorded settings.
    """
    sealing = SEALING_OFF if clear else SEALING_ON
    (row,) = await graph.run("student/settle_sealing", institution=institution, sealing=sealing, now=now)
    return bool(row["sealing"] == SEALING_OFF)


async def find_enrolled(graph: Graph, who: Who, now: datetime) -> Enrolled | None:
    """Return a student and the lock of its keys; `student/find`."""
    rows = await graph.read_counts("student/find", who, now=now)
    if not rows:
        return None
    (row,) = rows
    found, companion = row["student"], row["companion"]
    told = {"tolerance": companion["tolerance"], "session_ids": row["session_ids"], DISPLAY_NAME: None}
    argon2 = Argon2(found["argon2_ops"], found["argon2_memory"])
    return Enrolled(
        from_row(Student, found | told),
        from_row(StudentLock, found, argon2=argon2, clear=found.get("sealing") == SEALING_OFF),
        found.get(DISPLAY_NAME),
        companion,
    )


def opened_name(enrolled: Enrolled, session: Session, damage: Damage) -> str | None:
    """Decrypt a student's name, if one was given; None where it does not open."""
    sealed, place = enrolled.sealed_name, NodeSealer(session.keys, session, "Student", "student")
    return None if sealed is None else damage.opened(lambda: place.text(DISPLAY_NAME, sealed))


def opened_companion(enrolled: Enrolled, session: Session, damage: Damage) -> Companion | None:
    """Decrypt the companion of a student; None where it does not open."""
    return damage.opened(lambda: opened(Companion, "Companion", enrolled.companion, session))


async def update_companion(graph: Graph, session: Session, enrolled: Enrolled, companion: Companion) -> bool:
    """Change name, persona and expertise; `companion/update`. False if they were changed meanwhile."""
    rows = await graph.run(
        "companion/update",
        session,
        old_persona=enrolled.companion["persona"],
        expertise=companion.expertise,
        **_sealed_persona(session.keys, session, companion),
    )
    return bool(rows)


async def find_default_companion(graph: Graph, institution: str) -> tuple[str, str, tuple[str, ...]] | None:
    """Name, persona and expertise of the companion that new students get, if set; `companion/get_default`."""
    rows = await graph.run("companion/get_default", institution=institution)
    return (rows[0]["name"], rows[0]["persona"], tuple(rows[0]["expertise"])) if rows else None


async def save_default_companion(graph: Graph, institution: str, companion: Companion) -> None:
    """Set the companion that new students get; `companion/set_default`."""
    await graph.run("companion/set_default", institution=institution, companion=asdict(companion))


def _sealed_persona(keys: Keys, who: Who, companion: Companion) -> dict[str, Any]:
    return sealed_properties(NodeSealer(keys, who, "Companion", "companion"), companion)


async def list_student_page(graph: Graph, institution: str, after: str, limit: int) -> tuple[int, list[StudentSummary]]:
    """Return the number of students of an institution, and a page of them by id; `student/list_page`."""
    given: dict[str, Any] = {"institution": institution, "after": after, "limit": limit}
    (row,) = await graph.run("student/list_page", **given)
    broken = [each for each, at, *_ in row["students"] if not STUDENT_NODE.clear["created_at"].fits(at, required=True)]
    for each in broken:
        await graph.mend(Who(institution, each))
    if broken:
        (row,) = await graph.run("student/list_page", **given)
    return row["total"], [StudentSummary(each, moment(at), *counts) for each, at, *counts in row["students"]]


async def count_students(graph: Graph, who: Who) -> tuple[int, int]:
    """Numbers of memories and of waiting jobs of a student; `student/count`."""
    (row,) = await graph.run("student/count", who)
    return row["memories"], row["waiting_jobs"]


async def list_student_ids(graph: Graph, institution: str) -> list[str]:
    """Return the ids of an institution's students; `student/list`."""
    return await graph.value(list, "student/list", institution=institution) or []


async def relock(
    graph: Graph, who: Who, old: StudentLock, new: StudentLock, ends: Mapping[str, Any] | None = None
) -> bool:
    """Store a key wrapped with a new password; `student/relock`. False if it was changed meanwhile.

    ends : sessions that run at `now` end, but the one of the id `but`
    """
    given = {"old_wrapped_key": old.wrapped_key, "lock": lock_properties(new)}
    return bool(await graph.run("student/relock", who, ends=ends, **given))


async def save_recovered(graph: Graph, who: Who, old: StudentLock, new: StudentLock, now: datetime) -> bool:
    """Store a key that was wrapped anew with the recovery key; `student/recover`. False if it was changed meanwhile."""
    given = {"old_wrapped_key": old.wrapped_key, "lock": lock_properties(new)}
    return bool(await graph.run("student/recover", who, now=now, **given))


async def save_public_key(graph: Graph, who: Who, public_key: bytes, seal: bytes) -> None:
    """Store a student's public key, and the server's seal of it; `student/set_public_key`."""
    await graph.run("student/set_public_key", who, public_key=public_key, public_key_seal=seal)


async def list_unvouched(graph: Graph, limit: int) -> list[Who]:
    """Return students of an older schema that no server has vouched for; `student/list_unvouched`."""
    return [from_row(Who, row) for row in await graph.run("student/list_unvouched", limit=limit)]


async def count_try(graph: Graph, who: Who, attempt: Mapping[str, Any], now: datetime) -> bool:
    """Count a try as wrong before it is checked, once by its id; `password/count_try`. False: it has to wait.

    attempt : `caller`, `try_id`, and the map `patience`: wrong passwords that are free, `free_tries` of the caller and
        `free_in_all` for one who never had the right one; seconds to `wait` after them, doubled with each further one,
        at most `longest_wait`
    """
    return bool(await graph.value(bool, "password/count_try", who, now=now, **attempt))


async def settle_try(graph: Graph, who: Who, attempt: Mapping[str, Any], now: datetime, *, right: bool) -> None:
    """Take a counted try back: it was right, or was never checked; `password/settle_try`."""
    await graph.run("password/settle_try", who, right=right, now=now, **attempt)


async def save_session(
    graph: Graph, session: Session, token: bytes, public_key: bytes, expires_at: datetime, others: int, now: datetime
) -> bool:
    """Store an open session beside the running ones; `session/open`. False without a student of this key.

    expires_at : when it ends if it is not used
    others : sessions of the student that may run beside it
    """
    given: dict[str, Any] = {"token": token, "public_key": public_key, "expires_at": expires_at, "others": others}
    return bool(await graph.run("session/open", session, ends_at=session.expires_at, now=now, **given))


async def prolong_session(graph: Graph, session: Session, expires_at: datetime, now: datetime) -> datetime | None:
    """Let a session end later; `session/renew`. When it ends now; None where it does not run."""
    return await graph.value(moment, "session/renew", session, expires_at=expires_at, now=now)


async def delete_session(
    graph: Graph, session: Session, start: tuple[Session, str, datetime | None], now: datetime
) -> bool | None:
    """End a session; `session/close`. True if it was the student's last: then the closing one is there.

    None, and nothing is written, where this session does not run.

    start : the closing session, its token, and until when this process is at it, if it is
    """
    closing, token, worked_until = start
    given = {"closing_id": closing.session_id, "token": token.encode(), "expires_at": closing.expires_at}
    return await graph.value(bool, "session/close", session, worked_until=worked_until, now=now, **given)


async def delete_closing(graph: Graph, closing: Session, now: datetime) -> bool | None:
    """End a closing session; `session/finish`. True if the student has no other; None where it is gone."""
    return await graph.value(bool, "session/finish", closing, now=now)


async def claim_closing(graph: Graph, who: Who, worked_until: datetime, now: datetime) -> list[tuple[str, datetime]]:
    """Take the closing sessions of a student that no process is at; `session/claim_closing`.

    The token of each, and when the conversation ended.
    """
    rows = await graph.run("session/claim_closing", who, worked_until=worked_until, now=now)
    return [(token_text(row["token"]), moment(row["since"])) for row in rows]


async def keep_closing(graph: Graph, closing: Session, worked_until: datetime) -> None:
    """Hold a closing session for longer, if it is still there; `session/keep_closing`."""
    await graph.run("session/keep_closing", closing, worked_until=worked_until)


async def list_closing(graph: Graph, now: datetime, limit: int = 100) -> list[Who]:
    """Return students with a closing session that no process is at; `session/list_closing`."""
    return [from_row(Who, row) for row in await graph.run("session/list_closing", now=now, limit=limit)]


async def expire_session(graph: Graph, who: Who, session_id: str, now: datetime) -> bool | None:
    """End a session whose time is over; `session/expire`. True if it was the student's last; None if it still runs."""
    return await graph.value(bool, "session/expire", who, session_id=session_id, now=now)


async def list_expired_sessions(graph: Graph, now: datetime, limit: int = 100) -> list[tuple[Who, str]]:
    """Sessions whose time is over; `session/list_expired`."""
    return [(from_row(Who, r), r["session_id"]) for r in await graph.run("session/list_expired", now=now, limit=limit)]


async def list_running(graph: Graph, held: Sequence[Who], now: datetime) -> set[Who]:
    """Return which of some students have a running session; `session/list_running`."""
    rows = await graph.run("session/list_running", students=[asdict(each) for each in held], now=now)
    return {from_row(Who, row) for row in rows}


async def count_sessions(graph: Graph, now: datetime) -> int:
    """Sessions of all students that have not ended; `session/count`."""
    return await graph.value(int, "session/count", now=now) or 0


def lock_properties(lock: StudentLock) -> dict[str, Any]:
    """Return the properties of a student that hold what opens the keys."""
    properties = asdict(lock)
    argon2, clear = properties.pop("argon2"), properties.pop("clear")
    properties |= {"sealing": SEALING_OFF} if clear else {}
    # Null takes a copy away that was made while the institution had a recovery key.
    properties["recovery_copy"] = lock.recovery_copy or None
    return properties | {"argon2_ops": argon2["ops"], "argon2_memory": argon2["memory"]}


async def create_token(graph: Graph, institution: str, token: ServiceToken) -> None:
    """Keep that a service token was made; `token/create`."""
    await graph.run("token/create", institution=institution, token=clear_properties(token))


async def find_token_use(graph: Graph, institution: str, token_id: str) -> tuple[datetime | None] | None:
    """When a service token that was not revoked was last noted as used, if ever; `token/find`. None without one."""
    rows = await graph.run("token/find", institution=institution, id=token_id)
    used = rows[0]["used_at"] if rows else None
    return (used and moment(used),) if rows else None


async def touch_token(graph: Graph, institution: str, token_id: str, now: datetime) -> None:
    """Note that a service token is used; `token/touch`."""
    await graph.run("token/touch", institution=institution, id=token_id, now=now)


async def save_revocation(graph: Graph, institution: str, token_id: str, now: datetime) -> ServiceToken | None:
    """Revoke a service token; `token/revoke`. None where the institution has none of this id."""
    rows = await graph.run("token/revoke", institution=institution, id=token_id, now=now)
    return from_row(ServiceToken, rows[0]) if rows else None


async def list_stored_tokens(graph: Graph, institution: str, limit: int) -> list[ServiceToken]:
    """Return an institution's service tokens, the newest first; `token/list`."""
    return [from_row(ServiceToken, row) for row in await graph.run("token/list", institution=institution, limit=limit)]


async def begin_erasure(graph: Graph, who: Who, now: datetime) -> Erased | None:
    """Delete a student's keys and session, so that nothing is written any more; `erasure/begin`.

    None where nothing is kept of anybody of this id.
    """
    rows = await graph.run("erasure/begin", who, now=now)
    return Erased(**rows[0]) if rows else None


async def delete_some(graph: Graph, who: Who, limit: int) -> Erased | None:
    """Delete at most `limit` nodes of each kind; `erasure/delete_some`. None where no erasure has begun."""
    rows = await graph.run("erasure/delete_some", who, limit=limit)
    return Erased(**rows[0]) if rows else None


async def finish_erasure(graph: Graph, who: Who) -> None:
    """Let the id be enrolled again; `erasure/finish`."""
    await graph.run("erasure/finish", who)


async def list_unfinished_erasures(graph: Graph, before: datetime, limit: int = 100) -> list[Who]:
    """Return students whose erasure began before a moment and has not ended; `erasure/list`."""
    return [from_row(Who, row) for row in await graph.run("erasure/list", before=before, limit=limit)]


async def delete_old(graph: Graph, before: Mapping[str, datetime], limit: int = 1000) -> int:
    """Delete what is older than its retention, of any student; how many nodes; `retention/delete_old`.

    At most `limit` of each kind are deleted at once.

    Parameters
    ----------
    graph : Graph
    before : moments before which password `tries`, `usage`, answered `questions` with reflections and dead `jobs` go
    """
    moments: dict[str, Any] = {f"{each}_before": before[each] for each in ("tries", "usage", "jobs")}
    deleted = 0
    while True:
        gone = await graph.value(int, "retention/delete_old", limit=limit, **moments) or 0
        gone += await _delete_old_questions(graph, before["questions"], limit)
        if not gone:
            return deleted
        deleted += gone


async def _delete_old_questions(graph: Graph, before: datetime, limit: int) -> int:
    """Delete answered questions and reflections, student by student; `question/list_old`, `question/delete_old`."""
    deleted = 0
    for row in await graph.run("question/list_old", before=before, limit=limit):
        who = from_row(Who, row)
        found = await graph.run("question/delete_old", who, ids=row["ids"], before=before)
        deleted += sum(each["deleted"] for each in found)
    return deleted
