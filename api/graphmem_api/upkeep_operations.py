"""The operations of those who run, watch and analyse: jobs, cost, wellbeing, analyses, whole students."""

from datetime import datetime
from typing import Annotated, Any, cast

import strawberry
from strawberry.scalars import JSON

from graphmem.errors import InvalidInput
from graphmem.flows.analysis import analyse, declared, list_queries
from graphmem.flows.concern import wellbeing
from graphmem.flows.students import erase_student
from graphmem.flows.transfer import ImportedStudent, export_text, import_student
from graphmem.jobs.admin import list_jobs, retry_job, spent, student_of_job
from graphmem.jobs.runner import run_jobs
from graphmem.model import Erased, Job, JobState, Role, Usage
from graphmem_api.access import Info, allowed, in_running_session, of_student, running_session_to_read, student_in_reach
from graphmem_api.arguments import ID, After, First, OneStudent, StudentId, argument
from graphmem_api.types import AnalysisQueryType, AnalysisType, JobPageType, WellbeingType


@strawberry.type
class UpkeepQuery:
    """Queries of analyses, wellbeing, background work and its cost."""

    @strawberry.field(description="The named queries that `analysis` runs. For analysts.")
    async def analyses(self, info: Info) -> list[AnalysisQueryType]:
        allowed(info, Role.ANALYST)
        return [
            AnalysisQueryType(
                name=name,
                description=query.description,
                params=_json({each: type_ for each, type_ in declared(query).items() if each != "institution"}),
            )
            for name, query in list_queries().items()
        ]

    @strawberry.field(
        description="Run a named query on what is clear of the token's institution; it only reads. For analysts."
    )
    async def analysis(
        self,
        info: Info,
        name: Annotated[str, argument("Name of the query, as `analyses` lists it.")],
        params: Annotated[JSON | None, argument("Values of its parameters by name; `now` may be left out.")] = None,
    ) -> AnalysisType:
        caller = allowed(info, Role.ANALYST)
        if not isinstance(params, dict | None):
            raise InvalidInput("params must be an object with a value for each parameter.")
        found = await analyse(info.context.gm.graph, caller.institution, name, params or {})
        return AnalysisType(rows=_json(found.rows), truncated=found.truncated)

    @strawberry.field(
        description="How a student has fared lately, for auditors and apps: counts, means and concerns, nothing "
        "that was said."
    )
    async def wellbeing(
        self,
        info: Info,
        student_id: StudentId,
        weeks: Annotated[int | None, argument("Weeks up to now, 1 to 104.")] = 12,
    ) -> WellbeingType:
        who, gm = of_student(info, student_id, Role.AUDITOR, Role.APP), info.context.gm
        await running_session_to_read(info, student_id, Role.AUDITOR)
        return WellbeingType(who, await wellbeing(gm, who, 12 if weeks is None else weeks))

    @strawberry.field(
        description="Background work, newest first: of the institution, or of one student. An app sees that of the "
        "student whose session it sends."
    )
    async def jobs(
        self,
        info: Info,
        student_id: OneStudent = None,
        state: Annotated[JobState | None, argument("Only jobs that stand so; null: all.")] = None,
        first: First = 20,
        after: After = None,
    ) -> JobPageType:
        gm, owner = info.context.gm, await student_in_reach(info, student_id, Role.AUDITOR, Role.ADMIN)
        found = await list_jobs(gm, *owner, state, 20 if first is None else first, after)
        return JobPageType(wanted=(*owner, state), items=list(found.items), next=found.next)

    @strawberry.field(
        description="What language models cost since a day (UTC), of the institution or of one student. An app sees "
        "that of the student whose session it sends."
    )
    async def usage(
        self,
        info: Info,
        student_id: OneStudent = None,
        since: Annotated[datetime | None, argument("First day (UTC); null: since ever.")] = None,
    ) -> Usage:
        owner = await student_in_reach(info, student_id, Role.AUDITOR, Role.ADMIN)
        return await spent(info.context.gm, *owner, since)


@strawberry.type
class TransferMutation:
    """Mutations that take a student out of a graphmem and into another."""

    @strawberry.mutation(
        description="All that is kept of a student, readable, as one JSON document; waiting jobs are done before."
    )
    async def export_student(self, info: Info, student_id: StudentId) -> str:
        session, gm = await in_running_session(info, student_id), info.context.gm
        await run_jobs(gm, session)
        return await export_text(gm, session)

    @strawberry.mutation(
        description="Make an exported student anew, sealed with a new key that the new password opens: all of it or "
        "nothing. The document is checked first. The same document again changes nothing. For large ones: "
        "`graphmem import`."
    )
    async def import_student(
        self,
        info: Info,
        id: StudentId,
        password: Annotated[str, argument("The new student's password, 8 to 1000 characters.")],
        document: Annotated[str, argument("The document, as `exportStudent` gives it.")],
        skip_unknown: Annotated[
            bool | None, argument("Leave out concepts that the institution's world does not have.")
        ] = False,
    ) -> ImportedStudent:
        who, gm = of_student(info, id, Role.ADMIN), info.context.gm
        return await import_student(gm, who, password, document, skip_unknown=bool(skip_unknown))


@strawberry.type
class UpkeepMutation:
    """Mutations that erase a student or start a dead job again."""

    @strawberry.mutation(
        description="Erase a student: all that is kept, the key first; what was deleted. The app needs the student's "
        "session, an admin does not. What is cut short is finished by itself, or by asking again."
    )
    async def erase_student(self, info: Info, student_id: StudentId) -> Erased:
        who = of_student(info, student_id, Role.APP, Role.ADMIN)
        if info.context.caller.role is Role.APP:
            await in_running_session(info, student_id)
        return await erase_student(info.context.gm, who)

    @strawberry.mutation(
        description="Start a dead job again; it runs when the student's session does. An app needs that session."
    )
    async def retry_job(self, info: Info, id: Annotated[ID, argument("Id of the job, as it is listed.")]) -> Job:
        institution, _ = await student_in_reach(info, student_of_job(id), Role.ADMIN)
        return await retry_job(info.context.gm, institution, id)


def _json(value: Any) -> JSON:
    """A value that is written as it is; the library's type is a name for any."""
    return cast(JSON, value)
