"""The operations on the institution's world, and on what a student knows of it."""

from typing import Annotated

import strawberry

from graphmem.flows.overlay import OverlayPage, reveal, set_attitude
from graphmem.flows.world import ConceptPage, find_concept, import_world, list_concepts
from graphmem.model import MAIN_WORLD, Concept, Imported, Known, Role, WorldEdge
from graphmem_api.access import Info, allowed, in_running_session
from graphmem_api.arguments import ID, NONE_USED, After, First, StudentId, argument
from graphmem_api.inputs import ConceptInput, WorldEdgeInput, draft_of

NO_EDGES: list[WorldEdge] = []


@strawberry.type
class WorldQuery:
    """Queries of the institution's concepts."""

    @strawberry.field(description="A concept of the institution's world, or null if there is none of this id.")
    async def concept(self, info: Info, id: Annotated[ID, argument("Id of the concept.")]) -> Concept | None:
        caller = allowed(info, Role.APP, Role.TEACHER, Role.ANALYST, Role.ADMIN)
        return await find_concept(info.context.gm, caller.institution, id)

    @strawberry.field(description="The concepts of the institution's world: by id, or what a search finds, best first.")
    async def concepts(
        self,
        info: Info,
        search: Annotated[str | None, argument("Words of names or descriptions, or what is meant; null: all.")] = None,
        domain: Annotated[str | None, argument("Only of this domain; null: of all.")] = None,
        first: First = 20,
        after: After = None,
    ) -> ConceptPage:
        caller = allowed(info, Role.APP, Role.TEACHER, Role.ANALYST, Role.ADMIN)
        most = 20 if first is None else first
        return await list_concepts(info.context.gm, caller.institution, search, domain, most, after)


@strawberry.type
class AttitudeMutation:
    """Mutation of what a student thinks of a concept."""

    @strawberry.mutation(
        description="Set what a student thinks of a known concept and how well it is known; null leaves what is there."
    )
    async def set_attitude(
        self,
        info: Info,
        student_id: StudentId,
        concept_id: Annotated[ID, argument("Id of a concept that the student knows.")],
        attitude: Annotated[float | None, argument("How the student feels about it, -1 to 1.")] = None,
        familiarity: Annotated[float | None, argument("How well the student knows it, 0 to 1.")] = None,
        notes: Annotated[str | None, argument("Notes, 1 to 2,000 characters; sealed.")] = None,
    ) -> Known:
        session, gm = await in_running_session(info, student_id), info.context.gm
        return await set_attitude(gm, session, concept_id, attitude, familiarity, notes)


@strawberry.type
class WorldMutation:
    """Mutations of the world, and of how much of it a student knows."""

    @strawberry.mutation(
        description="Add concepts and edges to the institution's world, or change those of the same ids. All is "
        "checked first; where anything is wrong every fault is named and nothing is imported. Safe to repeat."
    )
    async def import_world(
        self,
        info: Info,
        concepts: Annotated[list[Concept], argument("Concepts.", list[ConceptInput])],
        edges: Annotated[
            list[WorldEdge], argument("Edges between these or known concepts, without a cycle.", list[WorldEdgeInput])
        ] = NO_EDGES,
        world: Annotated[str | None, argument("Name of the world that they belong to.")] = MAIN_WORLD,
        replace: Annotated[bool | None, argument("Whether what this world has beside them is removed.")] = False,
    ) -> Imported:
        caller, draft = allowed(info, Role.ADMIN), draft_of(concepts, edges)
        name = MAIN_WORLD if world is None else world
        gm = info.context.gm
        return await import_world(gm, caller.institution, draft, name=name, replace=bool(replace))

    @strawberry.mutation(description="Put concepts, and edges between known ones, into what a student knows.")
    async def reveal(
        self,
        info: Info,
        student_id: StudentId,
        concept_ids: Annotated[list[ID], argument("Ids of concepts, at most 200.")],
        edge_ids: Annotated[list[ID] | None, argument("Ids of edges of the world, at most 200.")] = NONE_USED,
        through_grade: Annotated[int | None, argument("All of this and lower grades as well, 1 to 20.")] = None,
    ) -> OverlayPage:
        session, gm = await in_running_session(info, student_id), info.context.gm
        return await reveal(gm, session, concept_ids, edge_ids or (), through_grade=through_grade)
