"""Types of the schema: those of the model, and what is shown of them beyond their fields."""

from collections.abc import Sequence
from datetime import datetime
from typing import cast
from uuid import uuid4

import strawberry
from strawberry.scalars import JSON

from graphmem import model
from graphmem.app import Graphmem
from graphmem.errors import Locked
from graphmem.flows import context, memories, overlay, students, world
from graphmem.flows.consolidation import find_kept
from graphmem.flows.ledger import Draft
from graphmem.flows.transfer import ImportedStudent
from graphmem.flows.uncertainty import memories_of_uncertainties, uncertainties_of_turn
from graphmem.flows.world import WorldDraft
from graphmem.jobs.health import count_jobs
from graphmem.search.scoring import gravity_now
from graphmem.store.memories import Filter
from graphmem_api.access import Info, in_session
from graphmem_api.mapper import ID, Shown, expose, shows, taken

NOT_SHOWN = (
    *("before", "last_reinforced_at", "source_kind", "source_refs", "passes", "slot_key", "statements"),
    *("original", "slot"),
)
"""Fields of a memory that only the service needs."""

WHOLE = (
    *(model.Edge, model.Question, model.RelationshipSide, model.Attention, model.Prediction, model.RecalledTurn),
    *(model.PromptUsage, model.Usage, model.ServiceToken, model.Erased, model.Compression, model.WellbeingWeek),
    *(model.StudentSummary, model.MemoryEvent, model.Concept, model.Known, model.Imported, world.ConceptPage),
    *(overlay.OverlayPage, overlay.ProgressPage, students.StudentPage, context.ContextMessage),
)
"""Classes of which the schema shows every field."""
for _each in WHOLE:
    expose(_each)
expose(model.Source, nullable=["ref"])
expose(model.NamedEntity, "Entity")
expose(model.Revision, "BeliefUpdate")
expose(model.SurpriseAction, nullable=["episode_ids", "questions"])
expose(model.SurpriseResponse, renamed={"revisions": "beliefUpdates"})
expose(model.Job, hidden=["id"], renamed={"ref": "id"}, properties=["ref"], ids=["ref"])
expose(model.ModalityLoss, "Loss")
expose(model.Concern, properties=["person_should_look"])
expose(model.Integrity, ids=["altered", "removed", "added"])
expose(model.Companion, hidden=["tolerance"])
expose(model.ConceptProgress, "Progress", ids=["evidence"])
expose(ImportedStudent, properties=["student_id"])


@shows(model.Memory, hidden=NOT_SHOWN)
class MemoryType(Shown[model.Memory]):
    """Something remembered; gravity is of now."""

    @strawberry.field
    def gravity(self, info: Info) -> float:
        return gravity_now(self.value, info.context.gm.clock())

    @strawberry.field
    def content(self) -> str | None:
        if self.value.content is None:
            raise Locked
        return self.value.content

    @strawberry.field
    async def surprise_response(self, info: Info) -> model.SurpriseResponse | None:
        """What the surprise led to that this episode, or this memory of a language model, begins with; null for any
        other memory. Without the student's session it is null, too, and of an episode with LOCKED."""
        if self.value.content is None:
            if self.value.role is model.MemoryRole.EPISODE:
                raise Locked
            return None
        session = in_session(info, self.who.student_id)
        return await info.context.loaders.responses.load((session, self.value.id))

    @strawberry.field
    async def sources(self, info: Info) -> list[model.Source]:
        """Where it came from, oldest first."""
        return await info.context.loaders.sources.load((self.who, self.value.id))

    @strawberry.field
    async def uncertainties(self, info: Info) -> list["DoubtType"]:
        """Doubts about it, newest first; their texts are null while locked."""
        session = self._session(info)
        found = await info.context.loaders.uncertainties.load((session or self.who, self.value.id))
        return await shown_uncertainties(info.context.gm, self.who, session, found)

    @strawberry.field
    async def entities(self, info: Info) -> list[model.NamedEntity]:
        """People, places and things it speaks of; their names are null while locked."""
        return await info.context.loaders.entities.load((self._session(info) or self.who, self.value.id))

    @strawberry.field
    async def edges(
        self, info: Info, type: model.EdgeType | None = None, min_weight: float | None = 0.0
    ) -> list[model.Edge]:
        """Its edges, strongest first.

        Parameters
        ----------
        type : Only edges of this type; null: of any.
        min_weight : Least weight, 0 to 1.
        """
        found = await info.context.loaders.edges.load((self.who, self.value.id))
        return memories.chosen_edges(found, type, min_weight or 0.0)

    def _session(self, info: Info) -> model.Session | None:
        """The session that opened it; None while it is locked."""
        return None if self.value.content is None else in_session(info, self.who.student_id)


@shows(model.Recalled)
class RecalledType(Shown[model.Recalled]):
    """A memory that fits, how well, and why it is there."""

    @strawberry.field
    def memory(self) -> MemoryType:
        return MemoryType(self.who, self.value.memory)

    @strawberry.field
    def source_refs(self) -> list[str]:
        """Refs of its sources."""
        return list(self.value.memory.source_refs)


@shows(
    model.Uncertainty,
    hidden=["a_id", "b_id", "last_surfaced_at"],
    renamed={"detail": "resolutionDetail", "a_edge": "aRelationship", "b_edge": "bRelationship"},
)
class DoubtType(Shown[model.Uncertainty]):
    """A doubt about one memory, or between two.

    Beside it are the memories by id.
    """

    @strawberry.field
    def a(self) -> MemoryType:
        """The memory in doubt."""
        return MemoryType(self.who, self.beside[self.value.a_id])

    @strawberry.field
    def b(self) -> MemoryType | None:
        """The other memory, where two do not agree."""
        other = self.beside.get(self.value.b_id)
        return None if other is None else MemoryType(self.who, other)


async def shown_uncertainties(
    gm: Graphmem, who: model.Who, session: model.Session | None, doubts: Sequence[model.Uncertainty]
) -> list[DoubtType]:
    """Return uncertainties with their memories, read at once; without those whose memory is gone."""
    held = await memories_of_uncertainties(gm, who, session, doubts)
    return [DoubtType(who, doubt, held) for doubt in doubts if doubt.a_id in held]


@shows(model.Fact, hidden=["seq"])
class FactType(Shown[model.Fact]):
    """Fact learned from a violated expectation.

    Beside it are the reasons why it is in a context.
    """

    @strawberry.field
    def why(self) -> list[str]:
        """Why it is in a context; empty elsewhere."""
        return list(self.beside or ())


@shows(model.LedgerEntry, hidden=["settled_at", "note"], nullable=["triggers", "trigger_entities"])
class LedgerEntryType(Shown[model.LedgerEntry]):
    """Entry of the ledger of information that must not be forgotten.

    Beside it are the reasons why it is in a context.
    """

    @strawberry.field
    def why(self) -> list[str]:
        """Why it is in a context, such as `trigger: homework` or `meaning 0.83`; empty elsewhere."""
        return list(self.beside or ())


@shows(context.Context)
class ContextType(Shown[context.Context]):
    """Context for answering a message: a block for the companion's prompt, and the items in it."""

    @strawberry.field
    def memories(self) -> list[RecalledType]:
        return [RecalledType(self.who, each) for each in self.value.memories]

    @strawberry.field
    def ledger(self) -> list[LedgerEntryType]:
        return [LedgerEntryType(self.who, each, self.value.why.get(each.id)) for each in self.value.ledger]

    @strawberry.field
    def facts(self) -> list[FactType]:
        return [FactType(self.who, each, self.value.why.get(each.id)) for each in self.value.facts]

    @strawberry.field
    async def weave(self, info: Info) -> list[DoubtType]:
        session = in_session(info, self.who.student_id)
        return await shown_uncertainties(info.context.gm, session, session, self.value.weave)


@shows(model.ActionAdvice, "ActionCheck", renamed={"warning": "reliabilityWarning"})
class ActionCheckType(Shown[model.ActionAdvice]):
    """Advice on an action that rests on memories.

    Beside it are the memories in doubt.
    """

    @strawberry.field
    def unreliable(self) -> list[MemoryType]:
        return [MemoryType(self.who, each) for each in self.beside]


@shows(model.Wellbeing, renamed={"open_concerns": "openThreats"}, properties=["flag"])
class WellbeingType(Shown[model.Wellbeing]):
    """Wellbeing of a student without anything that was said: counts, means, and concerns."""

    @strawberry.field
    def student_id(self) -> ID:
        """Id of the student."""
        return ID(self.who.student_id)


@shows(model.TurnOutcome, "Turn", renamed={"fact": "learnedFact"})
class TurnType(Shown[model.TurnOutcome]):
    """A message answered: what was expected, how surprising it was, what was learned and recalled."""

    @strawberry.field
    def fact(self) -> FactType | None:
        return None if self.value.fact is None else FactType(self.who, self.value.fact)

    @strawberry.field
    def recalled_facts(self) -> list[FactType]:
        return [FactType(self.who, each) for each in self.value.recalled_facts]

    @strawberry.field
    def next_prediction(self) -> model.Prediction:
        """What the student is expected to say next."""
        return model.Prediction(self.value.prediction, self.value.needed_info)

    @strawberry.field
    async def weave(self, info: Info) -> list[DoubtType]:
        gm = info.context.gm
        found = await uncertainties_of_turn(gm, self._session, self.value.weave)
        return await shown_uncertainties(gm, self._session, self._session, found)

    @strawberry.field
    async def recalled(self, info: Info) -> list[RecalledType]:
        found = await memories.recalled_again(info.context.gm, self._session, self.value.recalled)
        return [RecalledType(self.who, each) for each in found]

    @strawberry.field
    async def kept(self, info: Info) -> bool | None:
        """Whether a memory formed of the message was consolidated; null until consolidation has judged them, at the end
        of the session, and where it left none. Afterwards `Student.kept` tells it."""
        (kept,) = await find_kept(info.context.gm, self.who, [self.value.turn_id])
        return kept

    @strawberry.field
    async def ledger(self, info: Info) -> list[LedgerEntryType]:
        found = await memories.surfaced_again(info.context.gm, self._session, self.value.ledger)
        return [LedgerEntryType(self.who, each) for each in found]

    @property
    def _session(self) -> model.Session:
        return cast(model.Session, self.who)


@strawberry.type(name="TurnEvent")
class TurnEventType:
    """A piece of the reply while it is written, then the whole turn."""

    token: str | None = None
    """Next piece of the reply; null in the last event."""
    turn: TurnType | None = None
    """The whole turn, in the last event."""


@strawberry.type(name="Graph")
class GraphType:
    """Memories and the edges between them."""

    memories: list[MemoryType]
    """Memories, nearest first, at most 200."""
    edges: list[model.Edge]
    """Edges between them."""


@strawberry.type(name="MemoryPage")
class MemoryPageType:
    """Some memories, how many there are, and where the next page begins."""

    who: strawberry.Private[model.Who]
    wanted: strawberry.Private[Filter]
    items: list[MemoryType]
    """Memories of this page, newest first."""
    next: str | None
    """Value of `after` for the next page; null on the last."""

    @strawberry.field
    async def total(self, info: Info) -> int:
        """Memories in all pages, 0 or more."""
        # Counted only where it is asked for.
        return await memories.count_memories(info.context.gm, self.who, self.wanted)


@strawberry.type(name="JobPage")
class JobPageType:
    """Some jobs, how many there are in all, and where the next page begins."""

    wanted: strawberry.Private[tuple[str, str | None, model.JobState | None]]
    items: list[model.Job]
    """Jobs of this page, newest first."""
    next: str | None
    """Value of `after` for the next page; null on the last."""

    @strawberry.field
    async def total(self, info: Info) -> int:
        """Jobs in all pages, 0 or more."""
        return await count_jobs(info.context.gm, *self.wanted)


@strawberry.type(name="Session")
class SessionType:
    """An open session: send the token in X-Graphmem-Session."""

    token: str
    """Session token; keep it secret."""
    expires_at: datetime
    """When the session ends (UTC) if it is not used any more; each use lets it end later."""
    ends_at: datetime
    """When the session ends at the latest (UTC)."""


@strawberry.type(name="AnalysisQuery")
class AnalysisQueryType:
    """A named query for analysts."""

    name: str
    """Its name."""
    description: str
    """The question it answers."""
    params: JSON
    """Types of its parameters by name; the institution is the token's."""


@strawberry.type(name="Analysis")
class AnalysisType:
    """What an analysis found: structure and numbers, nothing that was said."""

    rows: JSON
    """A list of objects, one a row, with a value for each column."""
    truncated: bool
    """Whether there were more rows than these 2,000."""


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
