"""The operations on the institution's world, and on what a student knows of it."""

from typing import Annotated

import strawberry

from graphmem.flows.overlay import OverlayPage, reveal, set_attitude
from graphmem.flows.world import ConceptPage, find_concept, import_world, list_concepts
from graphmem.model import MAIN_WORLD, Concept, Imported, Known, Role, WorldEdge
from graphmem_api.access import Info, allowed, in_running_session
from graphmem_api.arguments import ID, NONE_USED
from graphmem_api.inputs import ConceptInput, WorldEdgeInput, draft_of

NO_EDGES: list[WorldEdge] = []


@strawberry.type
class WorldQuery:
    """Queries of the institution's concepts."""

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


@strawberry.type
class AttitudeMutation:
    """Mutation of what a student thinks of a concept."""

    @strawberry.mutation
    async def set_attitude(
        self,
        info: Info,
        student_id: ID,
        concept_id: ID,
        attitude: float | None = None,
        familiarity: float | None = None,
        notes: str | None = None,
    ) -> Known:
        """Set what a student thinks of a known concept and how well it is known; null leaves what is there.

        Parameters
        ----------
        concept_id : Id of a concept that the student knows.
        attitude : How the student feels about it, -1 to 1.
        familiarity : How well the student knows it, 0 to 1.
        notes : Notes, 1 to 2,000 characters; sealed.
        """
        session, gm = await in_running_session(info, student_id), info.context.gm
        return await set_attitude(gm, session, concept_id, attitude, familiarity, notes)


@strawberry.type
class WorldMutation:
    """Mutations of the world, and of how much of it a student knows."""

    @strawberry.mutation
    async def import_world(
        self,
        info: Info,
        concepts: Annotated[list[Concept], strawberry.argument(graphql_type=list[ConceptInput])],
        edges: Annotated[list[WorldEdge], strawberry.argument(graphql_type=list[WorldEdgeInput])] = NO_EDGES,
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
        caller, draft = allowed(info, Role.ADMIN), draft_of(concepts, edges)
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
