"""The operations of those who run, watch and analyse: jobs, cost, wellbeing, analyses, whole students."""

from datetime import datetime
from typing import Any, cast

import strawberry
from strawberry.scalars import JSON

from graphmem.errors import InvalidInput
from graphmem.flows.analysis import analyse, declared, list_queries
from graphmem.flows.ledger import wellbeing
from graphmem.flows.students import erase_student
from graphmem.flows.transfer import ImportedStudent, export_text, import_student
from graphmem.jobs.admin import list_jobs, retry_job, spent, student_of_job
from graphmem.jobs.runner import run_jobs
from graphmem.model import Erased, Job, JobState, Role, Usage
from graphmem_api.access import Info, allowed, in_running_session, of_student, running_session_to_read, student_in_reach
from graphmem_api.arguments import ID
from graphmem_api.types import AnalysisQueryType, AnalysisType, JobPageType, WellbeingType


@strawberry.type
class UpkeepQuery:
    """Queries of analyses, wellbeing, background work and its cost."""

    @strawberry.field
    async def analyses(self, info: Info) -> list[AnalysisQueryType]:
        """The named queries that `analysis` runs. For analysts."""
        allowed(info, Role.ANALYST)
        return [
            AnalysisQueryType(
                name=name,
                description=query.description,
                params=_json({each: type_ for each, type_ in declared(query).items() if each != "institution"}),
            )
            for name, query in list_queries().items()
        ]

    @strawberry.field
    async def analysis(self, info: Info, name: str, params: JSON | None = None) -> AnalysisType:
        """Run a named query on what is clear of the token's institution; it only reads. For analysts.

        Parameters
        ----------
        name : Name of the query, as `analyses` lists it.
        params : Values of its parameters by name; `now` may be left out.
        """
        caller = allowed(info, Role.ANALYST)
        if not isinstance(params, dict | None):
            raise InvalidInput("params must be an object with a value for each parameter.")
        found = await analyse(info.context.gm.graph, caller.institution, name, params or {})
        return AnalysisType(rows=_json(found.rows), truncated=found.truncated)

    @strawberry.field
    async def wellbeing(self, info: Info, student_id: ID, weeks: int | None = 12) -> WellbeingType:
        """How a student has fared lately, for auditors and apps: counts, means and concerns, nothing that was said.

        Parameters
        ----------
        weeks : Weeks up to now, 1 to 104.
        """
        who, gm = of_student(info, student_id, Role.AUDITOR, Role.APP), info.context.gm
        await running_session_to_read(info, student_id, Role.AUDITOR)
        return WellbeingType(who, await wellbeing(gm, who, 12 if weeks is None else weeks))

    @strawberry.field
    async def jobs(
        self,
        info: Info,
        student_id: ID | None = None,
        state: JobState | None = None,
        first: int | None = 20,
        after: str | None = None,
    ) -> JobPageType:
        """Background work, newest first: of the institution, or of one student. An app sees that of the student whose
        session it sends.

        Parameters
        ----------
        student_id : Only of this student; null: of the whole institution.
        state : Only jobs that stand so; null: all.
        """
        gm, owner = info.context.gm, await student_in_reach(info, student_id, Role.AUDITOR, Role.ADMIN)
        found = await list_jobs(gm, *owner, state, 20 if first is None else first, after)
        return JobPageType(wanted=(*owner, state), items=list(found.items), next=found.next)

    @strawberry.field
    async def usage(self, info: Info, student_id: ID | None = None, since: datetime | None = None) -> Usage:
        """What language models cost since a day (UTC), of the institution or of one student. An app sees that of the
        student whose session it sends.

        Parameters
        ----------
        student_id : Only of this student; null: of the whole institution.
        since : First day (UTC); null: since ever.
        """
        owner = await student_in_reach(info, student_id, Role.AUDITOR, Role.ADMIN)
        return await spent(info.context.gm, *owner, since)


@strawberry.type
class TransferMutation:
    """Mutations that take a student out of a graphmem and into another."""

    @strawberry.mutation
    async def export_student(self, info: Info, student_id: ID) -> str:
        """All that is kept of a student, readable, as one JSON document; waiting jobs are done before."""
        session, gm = await in_running_session(info, student_id), info.context.gm
        await run_jobs(gm, session)
        return await export_text(gm, session)

    @strawberry.mutation
    async def import_student(
        self, info: Info, id: ID, password: str, document: str, skip_unknown: bool | None = False
    ) -> ImportedStudent:
        """Make an exported student anew, sealed with a new key that the new password opens: all of it or nothing. The
        document is checked first. The same document again changes nothing. For large ones: `graphmem import`.

        Parameters
        ----------
        id : Id of the student within the institution, 1 to 128 characters.
        password : The new student's password, 8 to 1000 characters.
        document : The document, as `exportStudent` gives it.
        skip_unknown : Leave out concepts that the institution's world does not have.
        """
        who, gm = of_student(info, id, Role.ADMIN), info.context.gm
        return await import_student(gm, who, password, document, skip_unknown=bool(skip_unknown))


@strawberry.type
class UpkeepMutation:
    """Mutations that erase a student or start a dead job again."""

    @strawberry.mutation
    async def erase_student(self, info: Info, student_id: ID) -> Erased:
        """Erase a student: all that is kept, the key first; what was deleted. The app needs the student's session, an
        admin does not. What is cut short is finished by itself, or by asking again."""
        who = of_student(info, student_id, Role.APP, Role.ADMIN)
        if info.context.caller.role is Role.APP:
            await in_running_session(info, student_id)
        return await erase_student(info.context.gm, who)

    @strawberry.mutation
    async def retry_job(self, info: Info, id: ID) -> Job:
        """Start a dead job again; it runs when the student's session does. An app needs that session.

        Parameters
        ----------
        id : Id of the job, as it is listed.
        """
        institution, _ = await student_in_reach(info, student_of_job(id), Role.ADMIN)
        return await retry_job(info.context.gm, institution, id)


def _json(value: Any) -> JSON:
    """A value that is written as it is; the library's type is a name for any."""
    return cast(JSON, value)
