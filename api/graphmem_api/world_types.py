"""The types of the world: concepts, pages of them, and what an import takes (spec 11)."""

from collections.abc import Sequence
from datetime import datetime
from typing import Self

import strawberry

from graphmem import model
from graphmem.flows import world_plan
from graphmem.flows.fading import ProgressPage
from graphmem.flows.overlay import OverlayPage
from graphmem.flows.world import ConceptPage
from graphmem_api.arguments import ID


@strawberry.type(name="Concept")
class ConceptType:
    """A concept of the institution's world."""

    id: ID = strawberry.field(description="Id within the institution.")
    name: str = strawberry.field(description="Its name.")
    aliases: list[str] = strawberry.field(description="Other names, in any language.")
    description: str | None = strawberry.field(description="What it is.")
    domain: str | None = strawberry.field(description="Subject it belongs to.")
    grade: int | None = strawberry.field(description="School year it is taught in, 1 to 20.")
    misconceptions: list[str] = strawberry.field(description="Wrong beliefs that are typical of it.")

    @classmethod
    def of(cls, concept: model.Concept) -> Self:
        return cls(
            id=ID(concept.id),
            name=concept.name,
            aliases=list(concept.aliases),
            description=concept.description,
            domain=concept.domain,
            grade=concept.grade,
            misconceptions=list(concept.misconceptions),
        )


@strawberry.type(name="ConceptPage")
class ConceptPageType:
    """Some concepts, how many there are, and where the next page begins."""

    items: list[ConceptType] = strawberry.field(description="Concepts of this page, by id.")
    total: int = strawberry.field(description="Concepts in all pages, 0 or more.")
    next: str | None = strawberry.field(description="Value of `after` for the next page; null on the last.")

    @classmethod
    def of(cls, page: ConceptPage) -> Self:
        return cls(items=[ConceptType.of(each) for each in page.items], total=page.total, next=page.next)


@strawberry.type(name="Known")
class KnownType:
    """A concept that a student knows."""

    concept: ConceptType = strawberry.field(description="The concept.")
    attitude: float = strawberry.field(description="How the student feels about it, -1 to 1.")
    familiarity: float = strawberry.field(description="How well the student knows it, 0 to 1.")
    notes: str | None = strawberry.field(default=None, description="Notes; null: none, or locked.")
    since: datetime = strawberry.field(description="When it was revealed (UTC).")

    @classmethod
    def of(cls, known: model.Known) -> Self:
        return cls(
            concept=ConceptType.of(known.concept),
            attitude=known.attitude,
            familiarity=known.familiarity,
            since=known.since,
            notes=known.notes,
        )


@strawberry.type(name="OverlayPage")
class OverlayPageType:
    """Some of what a student knows of the world, how much there is, and where the next page begins."""

    items: list[KnownType] = strawberry.field(description="Known concepts of this page, by id.")
    total: int = strawberry.field(description="Known concepts in all pages, 0 or more.")
    edge_ids: list[ID] = strawberry.field(description="All edges of the world that the student found.")
    next: str | None = strawberry.field(description="Value of `after` for the next page; null on the last.")

    @classmethod
    def of(cls, page: OverlayPage) -> Self:
        items = [KnownType.of(each) for each in page.items]
        return cls(items=items, total=page.total, edge_ids=[ID(each) for each in page.edge_ids], next=page.next)


@strawberry.type(name="Progress")
class ProgressType:
    """How a student is getting on with a known concept."""

    concept: ConceptType = strawberry.field(description="The concept.")
    familiarity: float = strawberry.field(description="How familiar it is now, 0 to 1.")
    trend: float = strawberry.field(description="How much more familiar than four weeks ago, -1 to 1.")
    last_practised: datetime | None = strawberry.field(
        description="When it was last practised, or its familiarity set (UTC); null: never."
    )
    due_at: datetime | None = strawberry.field(
        description="When it should be practised again, as one of ten such concepts is forgotten by then (UTC); null: "
        "it was never practised."
    )
    fades_at: datetime | None = strawberry.field(
        description="When the chance of recall falls below 0.7 unless it is practised (UTC); null: never practised."
    )
    evidence: list[ID] = strawberry.field(description="Ids of memories of its practice, newest first, at most 20.")

    @classmethod
    def of(cls, progress: model.ConceptProgress) -> Self:
        return cls(
            concept=ConceptType.of(progress.concept),
            familiarity=progress.familiarity,
            trend=progress.trend,
            last_practised=progress.last_practised,
            due_at=progress.due_at,
            fades_at=progress.fades_at,
            evidence=[ID(each) for each in progress.evidence],
        )


@strawberry.type(name="ProgressPage")
class ProgressPageType:
    """Progress with some concepts, how many there are, and where the next page begins."""

    items: list[ProgressType] = strawberry.field(description="Concepts of this page.")
    total: int = strawberry.field(description="Concepts in all pages, 0 or more.")
    next: str | None = strawberry.field(description="Value of `after` for the next page; null on the last.")

    @classmethod
    def of(cls, page: ProgressPage) -> Self:
        return cls(items=[ProgressType.of(each) for each in page.items], total=page.total, next=page.next)


@strawberry.type(name="Imported")
class ImportedType:
    """How much an import held."""

    concepts: int = strawberry.field(description="Concepts, 0 or more.")
    edges: int = strawberry.field(description="Edges, 0 or more.")

    @classmethod
    def of(cls, imported: model.Imported) -> Self:
        return cls(concepts=imported.concepts, edges=imported.edges)


@strawberry.input
class ConceptInput:
    """A concept; one of a known id is changed, so another name renames it."""

    id: ID = strawberry.field(description="Id within the institution, 1 to 128 characters.")
    name: str = strawberry.field(description="Its name, 1 to 200 characters; no two concepts have the same.")
    aliases: list[str] | None = strawberry.field(
        default_factory=list, description="Other names, in any language, at most 50 of 1 to 200 characters."
    )
    description: str | None = strawberry.field(default=None, description="What it is, at most 2,000 characters.")
    domain: str | None = strawberry.field(default=None, description="Subject it belongs to, at most 200 characters.")
    grade: int | None = strawberry.field(default=None, description="School year it is taught in, 1 to 20.")
    misconceptions: list[str] | None = strawberry.field(
        default_factory=list, description="Wrong beliefs that are typical of it, at most 10 of 1 to 500 characters."
    )

    def concept(self) -> model.Concept:
        """As the flows take it."""
        return model.Concept(
            self.id,
            self.name,
            tuple(self.aliases or ()),
            self.description,
            self.domain,
            self.grade,
            tuple(self.misconceptions or ()),
        )


@strawberry.input
class WorldEdgeInput:
    """An edge between two concepts; one of a known id is changed."""

    id: ID = strawberry.field(description="Id within the institution, 1 to 128 characters.")
    from_id: ID = strawberry.field(description="Concept it leads from.")
    to_id: ID = strawberry.field(description="Concept it leads to.")
    type: str = strawberry.field(description="PREREQUISITE_OF, PART_OF or RELATED_TO.")

    def edge(self) -> model.WorldEdge:
        """As the flows take it."""
        return model.WorldEdge(self.id, self.from_id, self.to_id, self.type)


def draft_of(concepts: Sequence[ConceptInput], edges: Sequence[WorldEdgeInput]) -> world_plan.WorldDraft:
    """What an import was given, each part with its place in the arguments."""
    return world_plan.WorldDraft(
        [(f"concepts.{i}", each.concept()) for i, each in enumerate(concepts)],
        [(f"edges.{i}", each.edge()) for i, each in enumerate(edges)],
    )
