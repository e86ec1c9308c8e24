"""Input types of the schema, made of the dataclasses that flows take."""

from collections.abc import Sequence
from datetime import datetime
from uuid import uuid4

import strawberry

from graphmem import model
from graphmem.flows.ledger import Draft
from graphmem.flows.world import WorldDraft
from graphmem_api.mapper import taken


@taken(model.Concept)
class ConceptInput:
    """A concept; one of a known id is changed, so another name renames it."""


@taken(model.WorldEdge)
class WorldEdgeInput:
    """An edge between two concepts; one of a known id is changed."""


@taken(Draft)
class LedgerInput:
    """An entry to be kept."""


@taken(model.Practised)
class PractisedInput:
    """A concept that was practised, and how it went."""


@strawberry.input
class ObservationInput:
    """Something observed; without a ref it gets one of its own, and sent again it is another observation."""

    text: str
    """What was observed, 1 to 32,000 characters."""
    kind: model.SourceKind
    """Kind of source."""
    ref: str | None = None
    """Id of the observation within its kind; given again it changes nothing; null: one of its own."""
    speaker: str | None = None
    """Who said it, at most 100 characters; null: not said by anybody in particular."""
    at: datetime | None = None
    """When it was observed (UTC), at most 300 s in the future; null: now."""
    practised: list[model.Practised] | None = strawberry.field(
        graphql_type=list[PractisedInput] | None, default_factory=list
    )
    """Concepts that were practised, at most 50; they are revealed, and more or less familiar."""

    def observation(self, now: datetime) -> model.Observation:
        """Return what flows take."""
        ref = uuid4().hex if self.ref is None else self.ref
        practised = tuple(self.practised or ())
        return model.Observation(self.kind, ref, self.text, self.at or now, self.speaker, practised=practised)


def draft_of(concepts: Sequence[model.Concept], edges: Sequence[model.WorldEdge]) -> WorldDraft:
    """Return what an import was given, each part with its place in the arguments."""
    return WorldDraft(
        [(f"concepts.{i}", each) for i, each in enumerate(concepts)],
        [(f"edges.{i}", each) for i, each in enumerate(edges)],
    )
