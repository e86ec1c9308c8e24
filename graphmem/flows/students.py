"""Enrolling a student, opening sessions, changing the password (spec 14)."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TypeVar
from uuid import uuid4

from graphmem import sealing
from graphmem.app import Graphmem
from graphmem.errors import Conflict, InvalidInput, Locked, RateLimited
from graphmem.model import Companion, Session, Student, StudentSummary, Who
from graphmem.store import students
from graphmem.validation import checked_id, checked_password, checked_text

T = TypeVar("T")

NOT_OPENED = "The password is wrong or there is no such student."

COMPANION = Companion(
    name="Companion",
    persona="A patient tutor who asks before telling, builds on what the student already knows and keeps it short.",
    tolerance=0.5,
)


async def enrol(gm: Graphmem, who: Who, password: str, display_name: str | None = None) -> Student:
    """Enrol a student with a companion, keys and a password.

    Raises
    ------
    InvalidInput    the id, the name or the password will not do
    Conflict        somebody of this id is enrolled already
    """
    checked_id("studentId", who.student_id)
    if display_name is not None:
        checked_text("displayName", display_name, 200)
    checked_password("password", password, gm.settings.password_min)
    lock, keys = await _slowly(gm, lambda: sealing.new_lock(who, password, gm.argon2))
    companion = replace(COMPANION, tolerance=gm.settings.tolerance)
    enrolment = students.Enrolment(keys, lock, companion, display_name)
    if not await students.create(gm.graph, who, enrolment, gm.clock()):
        raise Conflict("A student of this id is enrolled already: choose another id.")
    student = await find_student(gm, who)
    if student is None:
        raise Conflict("The student was erased while being enrolled.")
    return student


async def find_student(gm: Graphmem, who: Who, session: Session | None = None) -> Student | None:
    """A student, if there is one; with the display name where `session` is the running one."""
    enrolled = await students.find_enrolled(gm.graph, who, gm.clock())
    if enrolled is None:
        return None
    if session is None or session.session_id != enrolled.student.session_id:
        return enrolled.student
    return replace(enrolled.student, display_name=students.opened_name(enrolled, session))


@dataclass(frozen=True)
class StudentPage:
    """Some students, how many there are in all, and where the next page begins, if there is one."""

    items: tuple[StudentSummary, ...]
    total: int
    next: str | None


async def list_students(gm: Graphmem, institution: str, first: int, after: str | None) -> StudentPage:
    """A page of an institution's students by id, with counts only.

    Parameters
    ----------
    gm : Graphmem
    institution : str
    first : int, 1 to settings.page_size
    after : str, `next` of the page before

    Raises
    ------
    InvalidInput    `first` or `after` will not do
    """
    if not 1 <= first <= gm.settings.page_size:
        raise InvalidInput(f"first must lie between 1 and {gm.settings.page_size}.")
    place = "" if after is None else checked_id("after", after)
    total, found = await students.list_student_page(gm.graph, institution, place, first + 1)
    items = tuple(found[:first])
    return StudentPage(items, total, items[-1].id if len(found) > first else None)


async def count_contents(gm: Graphmem, who: Who) -> tuple[int, int]:
    """Count a student's memories, and the jobs that are not done yet or wait for a session."""
    return await students.count_students(gm.graph, who)


async def list_all_ids(gm: Graphmem, institution: str) -> list[str]:
    """The ids of an institution's students."""
    return await students.list_student_ids(gm.graph, institution)


async def open_session(gm: Graphmem, who: Who, password: str) -> tuple[str, Session]:
    """Unlock a student and return the session token with the session; a running session is prolonged.

    Raises
    ------
    Locked          the password is wrong, or there is no such student: the two cannot be told apart
    RateLimited     too many wrong passwords
    """
    enrolled = await _tried(gm, who, password)
    keys = await _slowly(gm, lambda: sealing.unlock(who, enrolled.lock, password))
    await students.forget_tries(gm.graph, who)
    session_id = uuid4().hex
    for _ in range(3):
        now = gm.clock()
        expires_at = now + timedelta(minutes=gm.settings.session_minutes)
        session = Session(who.institution, who.student_id, session_id, expires_at, keys)
        token = sealing.session_token(gm.secret, session)
        running = await students.save_session(gm.graph, who, session_id, token, expires_at, now)
        if running == session_id:
            return token, session
        if running is None:
            raise Locked
        session_id = running
    raise Conflict


async def change_password(gm: Graphmem, who: Who, old: str, new: str) -> None:
    """Wrap the student key with another password; running sessions go on.

    Raises
    ------
    Locked          the old password is wrong
    RateLimited     too many wrong passwords
    InvalidInput    the new password will not do
    Conflict        it was changed meanwhile
    """
    checked_password("new", new, gm.settings.password_min)
    enrolled = await _tried(gm, who, old)
    lock = await _slowly(gm, lambda: sealing.relocked(who, enrolled.lock, old, new, gm.argon2))
    await students.forget_tries(gm.graph, who)
    if not await students.relock(gm.graph, who, enrolled.lock, lock):
        raise Conflict("The password was changed meanwhile: open a session with the newest one.")


async def _tried(gm: Graphmem, who: Who, password: str) -> students.Enrolled:
    """Count a try of a password and find what it may open; nobody learns whether the student exists."""
    settings = gm.settings
    checked_password("password", password, shortest=0)
    patience = students.Patience(settings.password_tries, settings.password_wait)
    if not await students.try_password(gm.graph, who, uuid4().hex, patience, gm.clock()):
        raise RateLimited("Too many wrong passwords: wait a minute, then try again.")
    enrolled = await students.find_enrolled(gm.graph, who, gm.clock())
    if enrolled is None:
        await _slowly(gm, lambda: sealing.new_lock(who, password, gm.argon2))
        raise Locked(NOT_OPENED)
    return enrolled


async def _slowly(gm: Graphmem, work: Callable[[], T]) -> T:
    """Run Argon2id off the event loop, few at a time, since each takes its memory."""
    async with gm.argon2_slots:
        return await asyncio.to_thread(work)
