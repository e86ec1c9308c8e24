"""The operations on students: enrolment, sessions, passwords and keys, companions; service tokens."""

import strawberry

from graphmem.bearer import make_token
from graphmem.flows import students
from graphmem.flows.memories import find_memory
from graphmem.flows.session_cache import read_ahead
from graphmem.flows.students import decoded_recovery_key, list_tokens, recover_student, revoke_token
from graphmem.jobs.dispatch import start_jobs
from graphmem.jobs.sessions import close_session
from graphmem.model import Companion, Role, ServiceToken
from graphmem_api.access import (
    Info,
    allowed,
    in_running_session,
    in_session,
    is_locked,
    of_student,
    running_session,
    session_to_read,
)
from graphmem_api.mapper import ID
from graphmem_api.student import StudentType
from graphmem_api.types import MemoryType, SessionType


@strawberry.type
class StudentQuery:
    """Queries of students, of the institution's service tokens, of a memory."""

    @strawberry.field
    async def student(self, info: Info, id: ID) -> StudentType | None:
        """A student, or null if there is none of this id.

        Parameters
        ----------
        id : Id of the student within the institution, 1 to 128 characters.
        """
        who = of_student(info, id, Role.APP, Role.TEACHER, Role.AUDITOR, Role.ADMIN)
        found = await students.find_student(info.context.gm, who, running_session(info, id))
        if found is None:
            return None
        return StudentType(who, found, is_locked(info, found))

    @strawberry.field
    async def students(self, info: Info, first: int | None = 20, after: str | None = None) -> students.StudentPage:
        """The institution's students by id: counts, and nothing that was said."""
        caller, gm = allowed(info, Role.ADMIN, Role.ANALYST, Role.AUDITOR), info.context.gm
        return await students.list_students(gm, caller.institution, 20 if first is None else first, after)

    @strawberry.field
    async def service_tokens(self, info: Info) -> list[ServiceToken]:
        """The institution's service tokens, the newest first; revoked and expired ones too."""
        caller = allowed(info, Role.ADMIN)
        return list(await list_tokens(info.context.gm, caller.institution))

    @strawberry.field
    async def memory(self, info: Info, student_id: ID, id: ID) -> MemoryType | None:
        """A memory, or null if there is none of this id.

        Parameters
        ----------
        id : Id of the memory.
        """
        who = of_student(info, student_id, Role.APP, Role.AUDITOR)
        found = await find_memory(info.context.gm, who, id, session_to_read(info, student_id, Role.AUDITOR))
        return None if found is None else MemoryType(who, found)


@strawberry.type
class StudentMutation:
    """Mutations of students, their sessions, passwords, keys and companions, and of service tokens."""

    @strawberry.mutation
    async def enrol_student(
        self, info: Info, id: ID, password: str, display_name: str | None = None, time_zone: str | None = None
    ) -> StudentType:
        """Enrol a student; the password opens everything that is ever sealed.

        Parameters
        ----------
        id : Id of the student within the institution, 1 to 128 characters.
        password : The password, 8 to 1000 characters; nothing can be opened without it.
        display_name : How the student is called, 1 to 200 characters.
        time_zone : IANA name of the time zone in which the student's days are reckoned, such as Europe/Berlin.
        """
        who = of_student(info, id, Role.ADMIN)
        enrolled = await students.enrol(info.context.gm, who, password, display_name, time_zone)
        return StudentType(who, enrolled, True)

    @strawberry.mutation
    async def open_session(self, info: Info, student_id: ID, password: str) -> SessionType:
        """Unlock a student with a session of its own, such as of one device; others of the student go on.

        Parameters
        ----------
        password : The student's password.
        """
        who = of_student(info, student_id, Role.APP)
        token, session = await students.open_session(info.context.gm, who, password, info.context.tried_by)
        read_ahead(info.context.gm, session)
        start_jobs(info.context.gm, session)
        return SessionType(token=token, expires_at=info.context.gm.until(session), ends_at=session.expires_at)

    @strawberry.mutation
    async def renew_session(self, info: Info, student_id: ID) -> SessionType:
        """Let the session end later, as each use does; the token stays the same. For apps that wait long."""
        session = in_session(info, student_id)
        expires_at = await students.renew_session(info.context.gm, session)
        return SessionType(token=info.context.session_token, expires_at=expires_at, ends_at=session.expires_at)

    @strawberry.mutation
    async def make_student_token(self, info: Info, student_id: ID, seconds: float | None = 3600.0) -> str:
        """Make a bearer token of role `app` that reaches this student only, such as for a link to the page for people.
        It ends no later than the caller's own, and is revoked with it.

        Parameters
        ----------
        seconds : How long it is valid, above 0.
        """
        session, caller, gm = await in_running_session(info, student_id), info.context.caller, info.context.gm
        now = gm.clock()
        ttl = min(3600.0 if seconds is None else seconds, (caller.expires_at - now).total_seconds())
        return make_token(gm.secret, caller.institution, caller.role, ttl, now, caller.token_id, session.student_id)

    @strawberry.mutation
    async def close_session(self, info: Info, student_id: ID) -> bool:
        """End the session that is sent; with the student's last one the keys and the raw turns go."""
        await close_session(info.context.gm, in_session(info, student_id))
        return True

    @strawberry.mutation
    async def change_password(
        self, info: Info, student_id: ID, old: str, new: str, end_sessions: bool | None = False
    ) -> bool:
        """Change the password; nothing has to be sealed again.

        Parameters
        ----------
        old : The password so far.
        new : The new password, 8 to 1000 characters.
        end_sessions : End the student's sessions, but the one that is sent.
        """
        who, own = of_student(info, student_id, Role.APP), running_session(info, student_id)
        gm, ends, caller = info.context.gm, bool(end_sessions), info.context.tried_by
        await students.change_password(gm, who, old, new, caller=caller, end_sessions=ends, session=own)
        return True

    @strawberry.mutation
    async def rotate_key(self, info: Info, student_id: ID, password: str, end_sessions: bool | None = False) -> int:
        """Replace the student's key: all is sealed anew, sessions end. Values that were sealed, 0 or more.

        Parameters
        ----------
        password : The student's password; it stays.
        end_sessions : End other sessions of the student, too; else they are in the way (CONFLICT).
        """
        who, own = of_student(info, student_id, Role.APP), running_session(info, student_id)
        gm, ends, caller = info.context.gm, bool(end_sessions), info.context.tried_by
        return await students.rotate_key(gm, who, password, caller=caller, end_sessions=ends, session=own)

    @strawberry.mutation
    async def recover_student(self, info: Info, student_id: ID, recovery_key: str, password: str) -> StudentType:
        """Set a new password with the institution's recovery key, if it has chosen one; noted in recoveries.

        Parameters
        ----------
        recovery_key : The secret recovery key, in base64; put together of its shares.
        password : The new password, 8 to 1000 characters.
        """
        who = of_student(info, student_id, Role.ADMIN)
        key = decoded_recovery_key(recovery_key)
        return StudentType(who, await recover_student(info.context.gm, who, key, password), True)

    @strawberry.mutation
    async def revoke_token(self, info: Info, id: ID) -> ServiceToken:
        """Revoke a service token, for good: within seconds no server accepts it any more.

        Parameters
        ----------
        id : Id of the service token.
        """
        caller = allowed(info, Role.ADMIN)
        return await revoke_token(info.context.gm, caller.institution, id)

    @strawberry.mutation
    async def set_companion(
        self,
        info: Info,
        student_id: ID,
        name: str | None = None,
        persona: str | None = None,
        expertise: list[str] | None = None,
    ) -> StudentType:
        """Set name, persona and expertise of a student's companion."""
        session, gm = in_session(info, student_id), info.context.gm
        change = students.CompanionChange(name, persona, expertise)
        return StudentType(session, await students.set_companion(gm, session, change), False)

    @strawberry.mutation
    async def set_default_companion(
        self, info: Info, name: str | None = None, persona: str | None = None, expertise: list[str] | None = None
    ) -> Companion:
        """Set the companion that the institution's new students get."""
        caller, gm = allowed(info, Role.ADMIN), info.context.gm
        change = students.CompanionChange(name, persona, expertise)
        return await students.set_default_companion(gm, caller.institution, change)
