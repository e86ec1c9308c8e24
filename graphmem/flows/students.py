"""Students: enrolment, sessions, passwords, keys, recovery, erasure, integrity; service tokens (spec 14, 15)."""

import logging
from base64 import b64decode
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hmac import compare_digest
from uuid import uuid4

from graphmem import sealing
from graphmem.app import Graphmem
from graphmem.bearer import Caller, make_token
from graphmem.errors import (
    Conflict,
    Forbidden,
    GraphmemError,
    InvalidInput,
    Locked,
    NotFound,
    RateLimited,
    Tampered,
    Unauthenticated,
    Unavailable,
)
from graphmem.flows.session_cache import ENDED
from graphmem.model import (
    NO_NAME,
    Companion,
    Erased,
    Integrity,
    Keys,
    Role,
    ServiceToken,
    Session,
    Student,
    StudentSummary,
    Who,
)
from graphmem.store import integrity, students
from graphmem.store.integrity import check_lock
from graphmem.store.rotation import Rekeying, rotate
from graphmem.store.tampering import Damage, forget_noticed, report
from graphmem.validation import (
    PAGE_SIZE,
    PASSWORD_MIN,
    checked_count,
    checked_id,
    checked_new_id,
    checked_password,
    checked_text,
    checked_time_zone,
)

INTEGRITY_SECONDS = 1.0
"""Seconds after which a write is taken into the integrity hash."""
log = logging.getLogger(__name__)
NO_STUDENT = "There is no such student: enrol the student first."
SERVICE_TOKEN_DAYS = 365.0
"""Days after which a service token expires."""
MOST_TOKENS = 1_000
"""Most service tokens of an institution that are listed."""
USE_STEP = timedelta(hours=1)
"""Longest time for which the use of a token is not noted anew."""
REVOKED = "This token was revoked: make a new one with `graphmem token --service NAME`."
PASSWORD_TRIES = 5
"""Wrong passwords of a caller for a student before waiting."""
PASSWORD_WAIT, LONGEST_PASSWORD_WAIT = 60.0, 3600.0
"""Seconds to wait after too many wrong passwords, doubled with each further one, and at most."""
PASSWORD_TRIES_ALL = 50
"""Wrong passwords of all callers for a student before a caller unknown to it has to wait."""
SESSIONS_AT_ONCE = 20
"""Sessions of a student at once; of more the one not used for longest ends."""
LOCAL = "local"
"""Caller of a process of one's own, such as a command."""
NOT_OPENED = "The password is wrong or there is no such student."
NAME_CHARACTERS, PERSONA_CHARACTERS, MOST_EXPERTISE = 100, 2_000, 50
"""Characters of a companion's name or a concept, of its persona, and most concepts."""
COMPANION = Companion(
    name=NO_NAME,
    persona="A patient tutor who asks before telling, builds on what the student already knows and keeps it short.",
    tolerance=0.5,
)
LONGEST_STEP = timedelta(minutes=1)
"""Longest time between two renewals of a session that is used all the time."""
NODES_AT_ONCE = 1_000
"""Most nodes of each kind that one transaction deletes."""
TAKEN_UP_AFTER = timedelta(minutes=5)
"""Age from which an erasure that another process began is taken for cut short."""


async def verify_integrity(gm: Graphmem, who: Who) -> Integrity:
    """Compare the stored data of a student with the service's writes; no key of the student is needed.

    Raises
    ------
    NotFound        there is no such student
    Conflict        the student was written to each time that it was read

    Source: spec 14.
    """
    found = await integrity.verify(gm.graph, who, gm.clock())
    if found is None:
        raise NotFound(NO_STUDENT)
    return found


async def accept_integrity(gm: Graphmem, who: Who) -> Integrity:
    """Accept the stored data of a student as written by the service, whoever wrote it; return the state after that.

    Raises
    ------
    NotFound        there is no such student
    """
    if not await integrity.accept(gm.graph, who, gm.clock()):
        raise NotFound(NO_STUDENT)
    await forget_noticed(gm.graph, who)
    return await verify_integrity(gm, who)


async def keep_up(gm: Graphmem, who: Who) -> None:
    """Take in the recent writes of a student, if it can be done now; `graphmem.store.integrity.take_in`."""
    try:
        await integrity.take_in(gm.graph, who, gm.clock())
    except Tampered as error:
        log.error("the integrity hash of student %s is not kept up: %s", who.student_id, error)
    except GraphmemError as error:
        # The write is not lost: its note waits.
        log.warning("the integrity hash of student %s is left to the next sweep: %s", who.student_id, error.code)


async def keep_all_up(gm: Graphmem) -> None:
    """Take in the recent writes of every student."""
    last = None
    # Page by page: students whose notes cannot be taken in block no others.
    while found := await integrity.list_noted(gm.graph, last):
        for who in found:
            await keep_up(gm, who)
        last = found[-1]


async def keep_up_forever(gm: Graphmem) -> None:
    """Take in this process's writes soon after them, until it ends; errors are left to the sweep."""
    while True:
        ends = await gm.background.stops_within(INTEGRITY_SECONDS)
        while gm.graph.noted:
            await keep_up(gm, gm.graph.noted.pop())
        if ends:
            return


async def issue_token(
    gm: Graphmem, institution: str, role: Role, name: str, days: float | None = None
) -> tuple[str, ServiceToken]:
    """Make a service token; it is shown this once and kept nowhere.

    Parameters
    ----------
    gm : Graphmem
    institution, role : whom it speaks for
    name : str, 1 to 200 characters: the service that uses it
    days : float > 0, until it expires; `service_token_days` by default

    Raises
    ------
    InvalidInput    institution, name or days will not do
    """
    checked_text("name", name, 200)
    seconds = 86_400.0 * (SERVICE_TOKEN_DAYS if days is None else days)
    now, token_id = gm.clock(), uuid4().hex
    text = make_token(gm.secret, institution, role, seconds, now, token_id)
    token = ServiceToken(token_id, name, role, now, now + timedelta(seconds=seconds))
    await students.create_token(gm.graph, institution, token)
    return text, token


async def list_tokens(gm: Graphmem, institution: str) -> Sequence[ServiceToken]:
    """Return an institution's service tokens, the newest first, at most 1,000; revoked and expired ones too."""
    return await students.list_stored_tokens(gm.graph, institution, MOST_TOKENS)


async def revoke_token(gm: Graphmem, institution: str, token_id: str) -> ServiceToken:
    """Revoke a service token, for good: within `service_token_seconds` no replica accepts it any more.

    Raises
    ------
    NotFound        the institution has none of this id
    """
    revoked = await students.save_revocation(gm.graph, institution, checked_id("id", token_id), gm.clock())
    if revoked is None:
        raise NotFound("There is no such service token: `graphmem token --list` shows them.")
    gm.valid_tokens.pop(token_id, None)
    return revoked


async def check_not_revoked(gm: Graphmem, caller: Caller) -> None:
    """Raise Unauthenticated where a caller's token is a service token that was revoked, or is unknown here.

    What was looked up is trusted for `service_token_seconds`.

    Raises
    ------
    Unauthenticated     it was revoked
    Unavailable         Neo4j does not answer
    """
    if caller.token_id is None or caller.token_id in gm.valid_tokens:
        return
    found, now = await students.find_token_use(gm.graph, caller.institution, caller.token_id), gm.clock()
    if found is None:
        raise Unauthenticated(REVOKED)
    (used_at,) = found
    if used_at is None or now - used_at >= USE_STEP:
        await students.touch_token(gm.graph, caller.institution, caller.token_id, now)
    gm.valid_tokens[caller.token_id] = True


async def enrol(
    gm: Graphmem, who: Who, password: str, display_name: str | None = None, time_zone: str | None = None
) -> Student:
    """Enrol a student with a companion, keys and a password.

    Parameters
    ----------
    gm : Graphmem
    who : Who
    password, display_name : str
    time_zone : IANA name, such as `Europe/Berlin`; days are reckoned in it where a message's `at` has no offset, or is
        in UTC, which tells nothing of the writer's day

    Raises
    ------
    InvalidInput    the id, the name, the password or the time zone will not do
    Conflict        somebody of this id is enrolled already, or is being erased
    """
    checked_new_id("institution", who.institution)
    checked_new_id("studentId", who.student_id)
    if display_name is not None:
        checked_text("displayName", display_name, 200)
    checked_password("password", password, PASSWORD_MIN)
    if time_zone is not None:
        checked_time_zone("timeZone", time_zone)
    clear = await check_sealing(gm, who.institution)
    recovery = gm.settings.recovery_keys.get(who.institution)
    lock, keys = await gm.passwords.computed(
        lambda: sealing.new_lock(who, password, gm.argon2, clear=clear, recovery=recovery)
    )
    lock = replace(lock, public_key_seal=sealing.public_key_seal(gm.secret, who, lock.public_key, clear=clear))
    companion = await _default_companion(gm, who.institution)
    more = {"display_name": display_name, "time_zone": time_zone}
    if not await students.create(gm.graph, who, keys, lock, companion, gm.clock(), **more):
        raise Conflict("A student of this id is enrolled already, or is being erased: choose another id.")
    await keep_up(gm, who)
    return await written_student(gm, who)


async def check_sealing(gm: Graphmem, institution: str) -> bool:
    """Return whether the students of an institution are stored readable, as is settled with the first of them.

    Raises
    ------
    Conflict        the settings say something else than what was settled
    """
    clear = gm.settings.is_clear(institution)
    settled = await students.settle_sealing(gm.graph, institution, clear=clear, now=gm.clock())
    if settled != clear:
        was, wanted = ("readable", "sealed") if settled else ("sealed", "readable")
        raise Conflict(
            f"The students of {institution} are stored {was}, which was settled with the first of them, and "
            f"GRAPHMEM_SEALING_OFF says {wanted}: set it as it was, or enrol the student at another institution."
        )
    return clear


async def find_student(gm: Graphmem, who: Who, session: Session | None = None) -> Student | None:
    """Return a student, if there is one; with the display name where `session` runs."""
    enrolled = await students.find_enrolled(gm.graph, who, gm.clock())
    if enrolled is None:
        return None
    if session is None or session.session_id not in enrolled.student.session_ids:
        return enrolled.student
    damage = Damage()
    student = replace(
        enrolled.student,
        display_name=students.opened_name(enrolled, session, damage),
        companion=students.opened_companion(enrolled, session, damage),
    )
    await report(gm.graph, session, damage)
    return student


async def written_student(gm: Graphmem, who: Who) -> Student:
    """Return a student that was just written; Conflict where it was erased meanwhile."""
    student = await find_student(gm, who)
    if student is None:
        raise Conflict("The student was erased meanwhile.")
    return student


@dataclass(frozen=True)
class CompanionChange:
    """New name, persona and expertise of a companion; None leaves a value unchanged.

    expertise : names or ids of concepts, at most 50, which count in the importance of a message (spec 6)
    """

    name: str | None = None
    persona: str | None = None
    expertise: Sequence[str] | None = None

    def applied(self, companion: Companion) -> Companion:
        """Return the companion with the change.

        Raises
        ------
        InvalidInput    a text is empty or too long, or there are too many concepts
        """
        texts = [("name", self.name, NAME_CHARACTERS), ("persona", self.persona, PERSONA_CHARACTERS)]
        texts += [("expertise", each, NAME_CHARACTERS) for each in self.expertise or ()]
        for field_name, value, most in texts:
            if value is not None:
                checked_text(field_name, value, most)
        if len(self.expertise or ()) > MOST_EXPERTISE:
            raise InvalidInput(f"expertise holds {len(self.expertise or ())} concepts: name at most {MOST_EXPERTISE}.")
        return replace(
            companion,
            name=companion.name if self.name is None else self.name,
            persona=companion.persona if self.persona is None else self.persona,
            expertise=companion.expertise if self.expertise is None else tuple(dict.fromkeys(self.expertise)),
        )


async def set_companion(gm: Graphmem, session: Session, change: CompanionChange) -> Student:
    """Change name, persona and expertise of a student's companion; the next turn has them.

    Raises
    ------
    InvalidInput    a text is empty or too long, or there are too many concepts
    Locked          there is no such student
    Conflict        it was changed by another request at the same time
    """
    enrolled = await students.find_enrolled(gm.graph, session, gm.clock())
    if enrolled is None or session.session_id not in enrolled.student.session_ids:
        raise Locked(ENDED)
    damage = Damage()
    before = students.opened_companion(enrolled, session, damage) or replace(
        COMPANION, tolerance=enrolled.student.tolerance, expertise=tuple(enrolled.companion["expertise"])
    )
    companion = change.applied(before)
    if not await students.update_companion(gm.graph, session, enrolled, companion):
        raise Conflict("The companion was changed meanwhile: send the change again.")
    gm.drop(session)
    name = students.opened_name(enrolled, session, damage)
    await report(gm.graph, session, damage)
    return replace(enrolled.student, display_name=name, companion=companion)


async def set_default_companion(gm: Graphmem, institution: str, change: CompanionChange) -> Companion:
    """Change the companion that an institution's new students get; those enrolled keep theirs.

    Raises
    ------
    InvalidInput    a text is empty or too long, or there are too many concepts
    """
    companion = change.applied(await _default_companion(gm, institution))
    await students.save_default_companion(gm.graph, institution, companion)
    return companion


async def _default_companion(gm: Graphmem, institution: str) -> Companion:
    found = await students.find_default_companion(gm.graph, institution)
    if found is None:
        return COMPANION
    name, persona, expertise = found
    return replace(COMPANION, name=name, persona=persona, expertise=expertise)


@dataclass(frozen=True)
class StudentPage:
    """Some students, how many there are in all, and where the next page begins, if there is one."""

    items: tuple[StudentSummary, ...]
    """Students of this page, by id."""
    total: int
    """Students in all pages, 0 or more."""
    next: str | None
    """Value of `after` for the next page; null on the last."""


async def list_students(gm: Graphmem, institution: str, first: int, after: str | None) -> StudentPage:
    """Return a page of an institution's students by id, with counts only.

    Parameters
    ----------
    gm : Graphmem
    institution : str
    first : int, 1 to PAGE_SIZE
    after : str, `next` of the page before

    Raises
    ------
    InvalidInput    `first` or `after` will not do
    """
    checked_count("first", first, PAGE_SIZE)
    place = "" if after is None else checked_id("after", after)
    total, found = await students.list_student_page(gm.graph, institution, place, first + 1)
    items = tuple(found[:first])
    return StudentPage(items, total, items[-1].id if len(found) > first else None)


async def count_contents(gm: Graphmem, who: Who) -> tuple[int, int]:
    """Count a student's memories, and the jobs that are not done yet or wait for a session."""
    return await students.count_students(gm.graph, who)


async def list_all_ids(gm: Graphmem, institution: str) -> list[str]:
    """Return the ids of an institution's students."""
    return await students.list_student_ids(gm.graph, institution)


async def open_session(gm: Graphmem, who: Who, password: str, caller: str = LOCAL) -> tuple[str, Session]:
    """Unlock a student and return the token of a new session with the session; those that run go on beside it.

    A session ends when it is closed, when it is not used for `session_minutes`, and `session_hours` after it was
    opened. Of more than `sessions` of a student the one not used for longest ends.

    Parameters
    ----------
    gm : Graphmem
    who : Who
    password : str
    caller : str, who tries the password; the wrong ones of each are counted apart

    Raises
    ------
    Locked          the password is wrong, or there is no such student: the two cannot be told apart
    RateLimited     too many wrong passwords of this caller, or too many at once
    """
    async with _tried(gm, who, password, caller) as enrolled:
        keys = await gm.passwords.computed(lambda: sealing.unlock(who, enrolled.lock, password), caller)
        await check_lock_written(gm, who, enrolled.lock)
    public_key = await _check_public_key(gm, who, enrolled.lock, keys)
    now = gm.clock()
    ends_at = now + timedelta(hours=gm.settings.session_hours)
    session = Session(who.institution, who.student_id, uuid4().hex, ends_at, keys, enrolled.student.time_zone)
    token = sealing.session_token(gm.secret, session)
    given = token.encode(), public_key, gm.until(session), SESSIONS_AT_ONCE - 1
    if not await students.save_session(gm.graph, session, *given, now):
        raise Locked(NOT_OPENED)
    gm.renewals[session.session_id] = now
    return token, session


async def check_lock_written(gm: Graphmem, who: Who, lock: sealing.StudentLock) -> None:
    """Check that the lock is the one that was written last: an old one would let an old password in.

    Raises
    ------
    Conflict        another was written since this one was read
    Locked          it is another one
    """
    if not await check_lock(gm.graph, who, students.lock_properties(lock), gm.clock()):
        enrolled = await students.find_enrolled(gm.graph, who, gm.clock())
        if enrolled is not None and enrolled.lock != lock:
            raise Conflict("The password was changed, or the key rotated, by another request: try again.")
        await report(gm.graph, who, [Tampered.at("Student", "student", "wrapped_key")])
        raise Locked(
            "The keys of this student were changed outside of graphmem: have an administrator look at "
            "`graphmem verify`, put back what was changed, or accept it."
        )


async def _check_public_key(gm: Graphmem, who: Who, lock: sealing.StudentLock, keys: Keys) -> bytes:
    """Put the own public key back where it was exchanged, and let this server's secret vouch for it; that key."""
    damage = Damage()
    public_key = damage.opened(lambda: sealing.own_public_key(keys, who, lock))
    if public_key is not None:
        if public_key != lock.public_key:
            damage.append(Tampered.at("Student", "student", "public_key"))
        seal = sealing.public_key_seal(gm.secret, who, public_key, clear=lock.clear)
        if (public_key, seal) != (lock.public_key, lock.public_key_seal):
            await students.save_public_key(gm.graph, who, public_key, seal)
    await report(gm.graph, who, damage)
    return public_key or lock.public_key


def check_vouched(gm: Graphmem, who: Who, lock: sealing.StudentLock) -> None:
    """Check that a public key is the one that this server, or the one before, has vouched for.

    Raises
    ------
    Conflict        it was exchanged in the database: what is sealed with it others would read
    """
    seals = [sealing.public_key_seal(secret, who, lock.public_key, clear=lock.clear) for secret in gm.secrets]
    if not any(compare_digest(each, lock.public_key_seal) for each in seals):
        raise Conflict(
            "The public key of this student was changed outside of graphmem: nothing is noted until the student has "
            "opened a session, which puts the right key back."
        )


async def renew_session(gm: Graphmem, session: Session) -> datetime:
    """Let a session end `session_minutes` from now, but not later than at its latest end; when it ends.

    Raises
    ------
    Locked          the session has ended
    """
    now = gm.clock()
    expires_at = await students.prolong_session(gm.graph, session, gm.until(session), now)
    if expires_at is None:
        gm.dismiss(session)
        raise Locked(ENDED)
    gm.renewals[session.session_id] = now
    return expires_at


async def change_password(
    gm: Graphmem,
    who: Who,
    old: str,
    new: str,
    *,
    caller: str = LOCAL,
    end_sessions: bool = False,
    session: Session | None = None,
) -> None:
    """Wrap the student key with another password; running sessions go on, unless they are to end.

    Parameters
    ----------
    gm : Graphmem
    who : Who
    old, new : str
    caller : str, as of `open_session`
    end_sessions : bool, end every running session
    session : Session, the one that goes on nevertheless

    Raises
    ------
    Locked          the old password is wrong
    RateLimited     too many wrong passwords
    InvalidInput    the new password will not do
    Conflict        it was changed meanwhile
    """
    checked_password("new", new, PASSWORD_MIN)
    async with _tried(gm, who, old, caller) as enrolled:
        recovery = gm.settings.recovery_keys.get(who.institution)
        lock = await gm.passwords.computed(
            lambda: sealing.relocked(who, enrolled.lock, old, new, gm.argon2, recovery=recovery)
        )
        await check_lock_written(gm, who, enrolled.lock)
    ends = {"now": gm.clock(), "but": session.session_id if session else ""} if end_sessions else None
    if not await students.relock(gm.graph, who, enrolled.lock, lock, ends):
        raise Conflict("The password was changed meanwhile: open a session with the newest one.")
    if end_sessions:
        gm.lock_up(who)
    await keep_up(gm, who)


async def rotate_key(
    gm: Graphmem,
    who: Who,
    password: str,
    *,
    caller: str = LOCAL,
    end_sessions: bool = False,
    session: Session | None = None,
) -> int:
    """Replace a student's key by a new random one, and seal anew all that it sealed; how many values.

    All sessions of the student end, and none is opened until all is done. What is cut short has changed nothing. The
    password stays; keyed hashes and ids do, too.

    Parameters
    ----------
    gm : Graphmem
    who : Who
    password : str
    caller : str, as of `open_session`
    end_sessions : bool, end other running sessions, instead of refusing
    session : Session, the one that does not count as another

    Raises
    ------
    Locked          the password is wrong
    RateLimited     too many wrong passwords
    Conflict        other sessions run, or the password was changed or the key rotated meanwhile
    """
    async with _tried(gm, who, password, caller) as enrolled:
        keys = await gm.passwords.computed(lambda: sealing.unlock(who, enrolled.lock, password), caller)
        await check_lock_written(gm, who, enrolled.lock)
    following, recovery = sealing.new_next_keys(keys), gm.settings.recovery_keys.get(who.institution)
    after = await gm.passwords.computed(
        lambda: sealing.rotated_lock(who, enrolled.lock, following, password, gm.argon2, recovery=recovery)
    )
    vouched = sealing.public_key_seal(gm.secret, who, after.public_key, clear=after.clear)
    rekeying = Rekeying(keys, enrolled.lock, following.keys(clear=after.clear), replace(after, public_key_seal=vouched))
    async with gm.lock(who), gm.memory_lock(who):
        but = session.session_id if session else ""
        values = await rotate(gm.graph, who, rekeying, but, gm.clock(), end_sessions=end_sessions)
        gm.lock_up(who)
    await keep_up(gm, who)
    return values


@asynccontextmanager
async def _tried(gm: Graphmem, who: Who, password: str, caller: str) -> AsyncIterator[students.Enrolled]:
    """Try a password on a stored student: the body raises Locked where it is wrong.

    It counts as wrong until it is known to be right, so that many at once are not more than one after the other; nobody
    learns whether the student exists.
    """
    checked_password("password", password, shortest=0)
    wait = {"wait": PASSWORD_WAIT, "longest_wait": LONGEST_PASSWORD_WAIT}
    patience = {"free_tries": PASSWORD_TRIES, "free_in_all": PASSWORD_TRIES_ALL, **wait}
    attempt = {"caller": caller, "try_id": uuid4().hex, "patience": patience}
    gm.passwords.count(caller)
    async with gm.passwords.attempts(who.institution, who.student_id, caller):
        if not await students.count_try(gm.graph, who, attempt, gm.clock()):
            raise RateLimited("Too many wrong passwords: wait a minute, then try again.")
        try:
            enrolled = await students.find_enrolled(gm.graph, who, gm.clock())
            if enrolled is None:
                await gm.passwords.computed(lambda: sealing.new_lock(who, password, gm.argon2), caller)
                raise Locked(NOT_OPENED)
            yield enrolled
        except Locked:
            gm.passwords.wrong(caller)
            raise
        except (RateLimited, Unavailable, Conflict):
            # It was not checked, or against a lock that is no more.
            await students.settle_try(gm.graph, who, attempt, gm.clock(), right=False)
            raise
        await students.settle_try(gm.graph, who, attempt, gm.clock(), right=True)
        gm.passwords.right(caller)


async def renew_if_due(gm: Graphmem, session: Session) -> None:
    """Renew a session that has just been used, unless this process did a moment ago.

    Errors are left to the next use: the request that used the session was answered.
    """
    step = min(LONGEST_STEP, timedelta(minutes=gm.settings.session_minutes) / 20)
    last = gm.renewals.get(session.session_id)
    if last is None or gm.clock() - last >= step:
        with suppress(GraphmemError):
            await renew_session(gm, session)


def decoded_recovery_key(text: str) -> bytes:
    """Return the secret half of a recovery key, 32 bytes.

    Raises
    ------
    InvalidInput    it is none

    Examples
    --------
    >>> decoded_recovery_key("no key")
    Traceback (most recent call last):
    graphmem_client.errors.InvalidInput: This is no recovery key: send it as `graphmem recovery-key` wrote it.
    """
    try:
        key = b64decode(text, altchars=b"-_", validate=True)
    except ValueError:
        key = b""
    if len(key) != sealing.KEY_BYTES:
        raise InvalidInput("This is no recovery key: send it as `graphmem recovery-key` wrote it.")
    return key


def _check_recovery_key(gm: Graphmem, institution: str, recovery_key: bytes) -> None:
    public = gm.settings.recovery_keys.get(institution)
    if public is None:
        raise Forbidden("This institution has chosen no recovery key.")
    if not compare_digest(sealing.public_recovery_key(recovery_key), public):
        raise Forbidden("This is not the recovery key of this institution.")


async def recover_student(gm: Graphmem, who: Who, recovery_key: bytes, password: str) -> Student:
    """Set a new password of a student whose old one is lost; memories stay.

    All sessions end. When it was done stays with the student (`recoveries`), covered by the integrity hash.

    Parameters
    ----------
    gm : Graphmem
    who : Who
    recovery_key : bytes of length 32, the secret half of the institution's recovery key
    password : str, the new one

    Raises
    ------
    Forbidden       the institution has chosen no recovery key, or this is not it
    InvalidInput    the new password will not do
    NotFound        there is no such student
    Conflict        the student's key was never wrapped for this recovery key, or changed meanwhile
    Locked          the keys of this student were changed outside of graphmem

    Source: spec 14.
    """
    checked_id("studentId", who.student_id)
    _check_recovery_key(gm, who.institution, recovery_key)
    checked_password("password", password, PASSWORD_MIN)
    enrolled = await students.find_enrolled(gm.graph, who, gm.clock())
    if enrolled is None:
        raise NotFound("There is no such student.")
    if not enrolled.lock.recovery_copy:
        raise Conflict(
            "The key of this student was never wrapped for the recovery key: that is done at enrolment and when the "
            "password is changed."
        )
    await check_lock_written(gm, who, enrolled.lock)
    try:
        lock = await gm.passwords.computed(
            lambda: sealing.recovered_lock(who, enrolled.lock, recovery_key, password, gm.argon2)
        )
    except Tampered as error:
        await report(gm.graph, who, [error])
        raise Conflict("The copy of the student's key for the recovery key does not open: it was altered.") from error
    if not await students.save_recovered(gm.graph, who, enrolled.lock, lock, gm.clock()):
        raise Conflict("The student's key was wrapped anew meanwhile: try again.")
    log.warning("a new password was set with the recovery key")
    gm.lock_up(who)
    await keep_up(gm, who)
    return await written_student(gm, who)


async def erase_student(gm: Graphmem, who: Who) -> Erased:
    """Delete all that is kept of a student; somebody new may be enrolled by the id afterwards.

    First the student and its keys go, in one transaction: from then on no turn, job or observation can write anything.
    The rest is deleted in batches; an interrupted deletion is finished by the next call, or by the sweeper.

    Returns
    -------
    Erased, how much was deleted by this call

    Raises
    ------
    NotFound        nothing is kept of anybody of this id
    Unavailable     Neo4j does not answer; ask again

    Source: spec 14.
    """
    checked_id("studentId", who.student_id)
    async with gm.lock(who), gm.memory_lock(who):
        began = await students.begin_erasure(gm.graph, who, gm.clock())
        gm.lock_up(who)
    if began is None:
        raise NotFound("There is no such student.")
    erased = began + await finish_erasure_of(gm, who)
    await gm.background.notifier.forget(who)
    return erased


async def finish_erasures(gm: Graphmem) -> int:
    """Finish erasures that were cut short; how many."""
    unfinished = await students.list_unfinished_erasures(gm.graph, gm.clock() - TAKEN_UP_AFTER)
    for who in unfinished:
        await finish_erasure_of(gm, who)
    return len(unfinished)


async def finish_erasure_of(gm: Graphmem, who: Who) -> Erased:
    """Delete the rest of a student whose erasure has begun, and return how much."""
    erased = Erased()
    while (some := await students.delete_some(gm.graph, who, NODES_AT_ONCE)) is not None:
        erased += some
        if not some.total:
            await students.finish_erasure(gm.graph, who)
            break
    return erased
