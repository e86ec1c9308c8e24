"""What comes in with mutations, as the flows take it."""

from datetime import datetime
from uuid import uuid4

import strawberry

from graphmem import model
from graphmem.flows.ledger import Draft


@strawberry.input
class ObservationInput:
    """Something observed; without a ref it gets one of its own, and sent again it is another observation."""

    text: str
    kind: model.SourceKind
    ref: str | None = None
    speaker: str | None = None
    at: datetime | None = None

    def observation(self, now: datetime) -> model.Observation:
        """As the flows take it."""
        ref = uuid4().hex if self.ref is None else self.ref
        return model.Observation(self.kind, ref, self.text, self.at or now, self.speaker)


@strawberry.input
class LedgerInput:
    """An entry to be kept."""

    category: model.LedgerCategory
    content: str
    summary: str | None = None
    importance: float | None = 0.7
    triggers: list[str] | None = strawberry.field(default_factory=list)
    trigger_entities: list[str] | None = strawberry.field(default_factory=list)
    trigger_threshold: float | None = 0.7
    expires_at: datetime | None = None

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
