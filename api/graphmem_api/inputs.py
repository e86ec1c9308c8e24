"""GraphQL input types of the mutations, and their conversion to the values that flows take."""

from datetime import datetime
from uuid import uuid4

import strawberry

from graphmem import model
from graphmem.flows.ledger import Draft
from graphmem_api.arguments import ID
from graphmem_api.enums import register_enums

# Before the classes, which refer to them.
register_enums()


@strawberry.input
class PractisedInput:
    """A concept that was practised, and how it went."""

    concept_id: ID = strawberry.field(description="Id of a concept of the world.")
    outcome: model.PracticeOutcome | None = strawberry.field(
        default=model.PracticeOutcome.GOOD, description="How it went; a lesson that was finished went well."
    )

    def practised(self) -> model.Practised:
        """As the flows take it; null means the default."""
        return model.Practised(self.concept_id, self.outcome or model.PracticeOutcome.GOOD)


@strawberry.input
class ObservationInput:
    """Something observed; without a ref it gets one of its own, and sent again it is another observation."""

    text: str = strawberry.field(description="What was observed, 1 to 32,000 characters.")
    kind: model.SourceKind = strawberry.field(description="Kind of source.")
    ref: str | None = strawberry.field(
        default=None,
        description="Id of the observation within its kind; given again it changes nothing; null: one of its own.",
    )
    speaker: str | None = strawberry.field(
        default=None, description="Who said it, at most 100 characters; null: not said by anybody in particular."
    )
    at: datetime | None = strawberry.field(
        default=None, description="When it was observed (UTC), at most 300 s in the future; null: now."
    )

    practised: list[PractisedInput] | None = strawberry.field(
        default_factory=list,
        description="Concepts that were practised, at most 50; they are revealed, and more or less familiar.",
    )

    def observation(self, now: datetime) -> model.Observation:
        """As the flows take it."""
        ref = uuid4().hex if self.ref is None else self.ref
        practised = tuple(each.practised() for each in self.practised or ())
        return model.Observation(self.kind, ref, self.text, self.at or now, self.speaker, practised=practised)


@strawberry.input
class LedgerInput:
    """An entry to be kept."""

    category: model.LedgerCategory = strawberry.field(description="What it is.")
    content: str = strawberry.field(description="What must not be forgotten, at least one character.")
    summary: str | None = strawberry.field(default=None, description="Short form.")
    importance: float | None = strawberry.field(default=0.7, description="Importance, 0 to 1.")
    triggers: list[str] | None = strawberry.field(default_factory=list, description="Words that bring it up.")
    trigger_entities: list[str] | None = strawberry.field(default_factory=list, description="Names that bring it up.")
    trigger_threshold: float | None = strawberry.field(
        default=0.7, description="Cosine similarity from which on a message brings it up, 0 to 1."
    )
    expires_at: datetime | None = strawberry.field(
        default=None, description="When it ceases to come up (UTC); null: never."
    )

    def draft(self) -> Draft:
        """As the flows take it; null means the default."""
        return Draft(
            category=self.category,
            content=self.content,
            summary=self.summary,
            importance=0.7 if self.importance is None else self.importance,
            triggers=tuple(self.triggers or ()),
            trigger_entities=tuple(self.trigger_entities or ()),
            trigger_threshold=0.7 if self.trigger_threshold is None else self.trigger_threshold,
            expires_at=self.expires_at,
        )
