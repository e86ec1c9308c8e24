"""The operations on students: enrolment, sessions, passwords and keys, companions; service tokens."""

from typing import Annotated

import strawberry

from graphmem.bearer import make_token
from graphmem.flows import students
from graphmem.flows.service_tokens import list_tokens, revoke_token
from graphmem.flows.session_cache import read_ahead
from graphmem.flows.students import decoded_recovery_key, recover_student
from graphmem.jobs.dispatch import start_jobs
from graphmem.jobs.sessions import close_session
from graphmem.model import Companion, Role, ServiceToken
from graphmem_api.access import Info, allowed, in_running_session, in_session, is_locked, of_student, running_session
from graphmem_api.arguments import ID, After, CompanionName, Expertise, First, Persona, StudentId, argument
from graphmem_api.student import StudentType
from graphmem_api.types import SessionType


@strawberry.type
class StudentQuery:
    """Queries of students, and of the institution's service tokens."""

    @strawberry.field(description="A student, or null if there is none of this id.")
    async def student(self, info: Info, id: StudentId) -> StudentType | None:
        who = of_student(info, id, Role.APP, Role.TEACHER, Role.AUDITOR, Role.ADMIN)
        found = await students.find_student(info.context.gm, who, running_session(info, id))
        if found is None:
            return None
        return StudentType(who, found, is_locked(info, found))

    @strawberry.field(description="The institution's students by id: counts, and nothing that was said.")
    async def students(self, info: Info, first: First = 20, after: After = None) -> students.StudentPage:
        caller, gm = allowed(info, Role.ADMIN, Role.ANALYST, Role.AUDITOR), info.context.gm
        return await students.list_students(gm, caller.institution, 20 if first is None else first, after)

    @strawberry.field(description="The institution's service tokens, the newest first; revoked and expired ones too.")
    async def service_tokens(self, info: Info) -> list[ServiceToken]:
        caller = allowed(info, Role.ADMIN)
        return list(await list_tokens(info.context.gm, caller.institution))


@strawberry.type
class StudentMutation:
    """Mutations of students, their sessions, passwords, keys and companions, and of service tokens."""

    @strawberry.mutation(description="Enrol a student; the password opens everything that is ever sealed.")
    async def enrol_student(
        self,
        info: Info,
        id: StudentId,
        password: Annotated[str, argument("The password, 8 to 1000 characters; nothing can be opened without it.")],
        display_name: Annotated[str | None, argument("How the student is called, 1 to 200 characters.")] = None,
        time_zone: Annotated[
            str | None,
            argument("IANA name of the time zone in which the student's days are reckoned, such as Europe/Berlin."),
        ] = None,
    ) -> StudentType:
        who = of_student(info, id, Role.ADMIN)
        enrolled = await students.enrol(info.context.gm, who, password, display_name, time_zone)
        return StudentType(who, enrolled, True)

    @strawberry.mutation(
        description="Unlock a student with a session of its own, such as of one device; others of the student go on."
    )
    async def open_session(
        self, info: Info, student_id: StudentId, password: Annotated[str, argument("The student's password.")]
    ) -> SessionType:
        who = of_student(info, student_id, Role.APP)
        token, session = await students.open_session(info.context.gm, who, password, info.context.tried_by)
        read_ahead(info.context.gm, session)
        start_jobs(info.context.gm, session)
        return SessionType(token=token, expires_at=info.context.gm.until(session), ends_at=session.expires_at)

    @strawberry.mutation(
        description="Let the session end later, as each use does; the token stays the same. For apps that wait long."
    )
    async def renew_session(self, info: Info, student_id: StudentId) -> SessionType:
        session = in_session(info, student_id)
        expires_at = await students.renew_session(info.context.gm, session)
        return SessionType(token=info.context.session_token, expires_at=expires_at, ends_at=session.expires_at)

    @strawberry.mutation(
        description="Make a bearer token of role `app` that reaches this student only, such as for a link to the page "
        "for people. It ends no later than the caller's own, and is revoked with it."
    )
    async def make_student_token(
        self,
        info: Info,
        student_id: StudentId,
        seconds: Annotated[float | None, argument("How long it is valid, above 0.")] = 3600.0,
    ) -> str:
        session, caller, gm = await in_running_session(info, student_id), info.context.caller, info.context.gm
        now = gm.clock()
        ttl = min(3600.0 if seconds is None else seconds, (caller.expires_at - now).total_seconds())
        return make_token(gm.secret, caller.institution, caller.role, ttl, now, caller.token_id, session.student_id)

    @strawberry.mutation(
        description="End the session that is sent; with the student's last one the keys and the raw turns go."
    )
    async def close_session(self, info: Info, student_id: StudentId) -> bool:
        await close_session(info.context.gm, in_session(info, student_id))
        return True

    @strawberry.mutation(description="Change the password; nothing has to be sealed again.")
    async def change_password(
        self,
        info: Info,
        student_id: StudentId,
        old: Annotated[str, argument("The password so far.")],
        new: Annotated[str, argument("The new password, 8 to 1000 characters.")],
        end_sessions: Annotated[bool | None, argument("End the student's sessions, but the one that is sent.")] = False,
    ) -> bool:
        who = of_student(info, student_id, Role.APP)
        own = running_session(info, student_id)
        await students.change_password(
            info.context.gm,
            who,
            old,
            new,
            caller=info.context.tried_by,
            end_sessions=bool(end_sessions),
            session=own,
        )
        return True

    @strawberry.mutation(
        description="Replace the student's key: all is sealed anew, sessions end. Values that were sealed, 0 or more."
    )
    async def rotate_key(
        self,
        info: Info,
        student_id: StudentId,
        password: Annotated[str, argument("The student's password; it stays.")],
        end_sessions: Annotated[
            bool | None, argument("End other sessions of the student, too; else they are in the way (CONFLICT).")
        ] = False,
    ) -> int:
        who = of_student(info, student_id, Role.APP)
        return await students.rotate_key(
            info.context.gm,
            who,
            password,
            caller=info.context.tried_by,
            end_sessions=bool(end_sessions),
            session=running_session(info, student_id),
        )

    @strawberry.mutation(
        description="Set a new password with the institution's recovery key, if it has chosen one; noted in recoveries."
    )
    async def recover_student(
        self,
        info: Info,
        student_id: StudentId,
        recovery_key: Annotated[str, argument("The secret recovery key, in base64; put together of its shares.")],
        password: Annotated[str, argument("The new password, 8 to 1000 characters.")],
    ) -> StudentType:
        who = of_student(info, student_id, Role.ADMIN)
        key = decoded_recovery_key(recovery_key)
        return StudentType(who, await recover_student(info.context.gm, who, key, password), True)

    @strawberry.mutation(description="Revoke a service token, for good: within seconds no server accepts it any more.")
    async def revoke_token(self, info: Info, id: Annotated[ID, argument("Id of the service token.")]) -> ServiceToken:
        caller = allowed(info, Role.ADMIN)
        return await revoke_token(info.context.gm, caller.institution, id)

    @strawberry.mutation(description="Set name, persona and expertise of a student's companion.")
    async def set_companion(
        self,
        info: Info,
        student_id: StudentId,
        name: CompanionName = None,
        persona: Persona = None,
        expertise: Expertise = None,
    ) -> StudentType:
        session, gm = in_session(info, student_id), info.context.gm
        change = students.CompanionChange(name, persona, expertise)
        return StudentType(session, await students.set_companion(gm, session, change), False)

    @strawberry.mutation(description="Set the companion that the institution's new students get.")
    async def set_default_companion(
        self, info: Info, name: CompanionName = None, persona: Persona = None, expertise: Expertise = None
    ) -> Companion:
        caller, gm = allowed(info, Role.ADMIN), info.context.gm
        change = students.CompanionChange(name, persona, expertise)
        return await students.set_default_companion(gm, caller.institution, change)
