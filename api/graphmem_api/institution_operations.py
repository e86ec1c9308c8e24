"""The operations on the institution's world, and of those who run, watch and analyse."""

from datetime import datetime
from typing import Annotated, Any, cast

import strawberry
from strawberry.scalars import JSON

from graphmem.errors import InvalidInput
from graphmem.flows.analysis import analyse, declared, list_queries
from graphmem.flows.ledger import wellbeing
from graphmem.flows.overlay import OverlayPage, reveal
from graphmem.flows.students import erase_student
from graphmem.flows.transfer import ImportedStudent, export_text, import_student
from graphmem.flows.world import ConceptPage, find_concept, import_world, list_concepts
from graphmem.jobs.health import list_jobs, retry_job, spent, student_of_job
from graphmem.jobs.runner import run_jobs
from graphmem.model import MAIN_WORLD, Concept, Erased, Imported, Job, JobState, Role, Usage, WorldEdge
from graphmem_api import types
from graphmem_api.access import Info, allowed, in_running_session, of_student, running_session_to_read, student_in_reach
from graphmem_api.mapper import ID, NONE_USED

NO_EDGES: list[WorldEdge] = []


@strawberry.type
class InstitutionQuery:
    """Queries of the institution's concepts, of analyses, wellbeing, background work and its cost."""

    @strawberry.field
    async def concept(self, info: Info, id: ID) -> Concept | None:
        """A concept of the institution's world, or null if there is none of this id.

        Parameters
        ----------
        id : Id of the concept.
        """
        caller = allowed(info, Role.APP, Role.TEACHER, Role.ANALYST, Role.ADMIN)
        return await find_concept(info.context.gm, caller.institution, id)

    @strawberry.field
    async def concepts(
        self,
        info: Info,
        search: str | None = None,
        domain: str | None = None,
        first: int | None = 20,
        after: str | None = None,
    ) -> ConceptPage:
        """The concepts of the institution's world: by id, or what a search finds, best first.

        Parameters
        ----------
        search : Words of names or descriptions, or what is meant; null: all.
        domain : Only of this domain; null: of all.
        """
        caller = allowed(info, Role.APP, Role.TEACHER, Role.ANALYST, Role.ADMIN)
        most = 20 if first is None else first
        return await list_concepts(info.context.gm, caller.institution, search, domain, most, after)

    @strawberry.field
    async def analyses(self, info: Info) -> list[types.AnalysisQueryType]:
        """The named queries that `analysis` runs. For analysts."""
        allowed(info, Role.ANALYST)
        return [
            types.AnalysisQueryType(
                name=name,
                description=query.description,
                params=_json({each: type_ for each, type_ in declared(query).items() if each != "institution"}),
            )
            for name, query in list_queries().items()
        ]

    @strawberry.field
    async def analysis(self, info: Info, name: str, params: JSON | None = None) -> types.AnalysisType:
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
        return types.AnalysisType(rows=_json(found.rows), truncated=found.truncated)

    @strawberry.field
    async def wellbeing(self, info: Info, student_id: ID, weeks: int | None = 12) -> types.WellbeingType:
        """How a student has fared lately, for auditors and apps: counts, means and concerns, nothing that was said.

        Parameters
        ----------
        weeks : Weeks up to now, 1 to 104.
        """
        who, gm = of_student(info, student_id, Role.AUDITOR, Role.APP), info.context.gm
        await running_session_to_read(info, student_id, Role.AUDITOR)
        return types.WellbeingType(who, await wellbeing(gm, who, 12 if weeks is None else weeks))

    @strawberry.field
    async def jobs(
        self,
        info: Info,
        student_id: ID | None = None,
        state: JobState | None = None,
        first: int | None = 20,
        after: str | None = None,
    ) -> types.JobPageType:
        """Background work, newest first: of the institution, or of one student. An app sees that of the student whose
        session it sends.

        Parameters
        ----------
        student_id : Only of this student; null: of the whole institution.
        state : Only jobs that stand so; null: all.
        """
        gm, owner = info.context.gm, await student_in_reach(info, student_id, Role.AUDITOR, Role.ADMIN)
        found = await list_jobs(gm, *owner, state, 20 if first is None else first, after)
        return types.JobPageType(wanted=(*owner, state), items=list(found.items), next=found.next)

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
class InstitutionMutation:
    """Mutations that take students in and out, fill the world, erase a student, start a dead job again."""

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

    @strawberry.mutation
    async def import_world(
        self,
        info: Info,
        concepts: Annotated[list[Concept], strawberry.argument(graphql_type=list[types.ConceptInput])],
        edges: Annotated[list[WorldEdge], strawberry.argument(graphql_type=list[types.WorldEdgeInput])] = NO_EDGES,
        world: str | None = MAIN_WORLD,
        replace: bool | None = False,
    ) -> Imported:
        """Add concepts and edges to the institution's world, or change those of the same ids. All is checked first;
        where anything is wrong every fault is named and nothing is imported. Safe to repeat.

        Parameters
        ----------
        concepts : Concepts.
        edges : Edges between these or known concepts, without a cycle.
        world : Name of the world that they belong to.
        replace : Whether what this world has beside them is removed.
        """
        caller, draft = allowed(info, Role.ADMIN), types.draft_of(concepts, edges)
        name = MAIN_WORLD if world is None else world
        gm = info.context.gm
        return await import_world(gm, caller.institution, draft, name=name, replace=bool(replace))

    @strawberry.mutation
    async def reveal(
        self,
        info: Info,
        student_id: ID,
        concept_ids: list[ID],
        edge_ids: list[ID] | None = NONE_USED,
        through_grade: int | None = None,
    ) -> OverlayPage:
        """Put concepts, and edges between known ones, into what a student knows.

        Parameters
        ----------
        concept_ids : Ids of concepts, at most 200.
        edge_ids : Ids of edges of the world, at most 200.
        through_grade : All of this and lower grades as well, 1 to 20.
        """
        session, gm = await in_running_session(info, student_id), info.context.gm
        return await reveal(gm, session, concept_ids, edge_ids or (), through_grade=through_grade)

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
