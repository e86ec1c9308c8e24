"""The types of the contract, made from the nouns of `graphmem.model`."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import date, datetime
from typing import Annotated, Self

import strawberry
from strawberry.scalars import JSON

from graphmem import model
from graphmem.flows import context as contexts
from graphmem.flows import memories
from graphmem.flows.compression import list_compressions
from graphmem.flows.consolidation import find_kept
from graphmem.flows.facts import list_facts
from graphmem.flows.fading import list_fading
from graphmem.flows.integrity import verify_integrity
from graphmem.flows.ledger import list_entries
from graphmem.flows.overlay import find_frontier, list_overlay, list_progress
from graphmem.flows.student_import import ImportedStudent
from graphmem.flows.surprise import list_questions
from graphmem.flows.uncertainty import list_uncertainties, uncertainties_of_turn
from graphmem.metrics import recall_seconds
from graphmem.store.memories import Filter
from graphmem_api.access import RequestContext as Requested
from graphmem_api.access import in_running_session, in_session, running_session_to_read, session_to_read
from graphmem_api.arguments import ID, After, AsOf, First, argument
from graphmem_api.memory_types import (
    GraphEdgeType,
    GraphType,
    GraphUncertaintyType,
    JobType,
    LedgerEntryType,
    MemoryPageType,
    MemoryType,
    QuestionType,
    RecalledType,
    shown_uncertainties,
)
from graphmem_api.world_types import ConceptType, OverlayPageType, ProgressPageType, ProgressType

Info = strawberry.Info[Requested, None]


@strawberry.type(name="Fact")
class FactType:
    """Fact learned from a violated expectation."""

    id: ID = strawberry.field(description="Id within the student.")
    text: str = strawberry.field(description="The fact, in one sentence.")
    tags: list[str] = strawberry.field(description="Key words, lower case.")
    created_at: datetime = strawberry.field(description="When it was learned (UTC).")
    why: list[str] = strawberry.field(description="Why it is in a context; empty elsewhere.")

    @classmethod
    def of(cls, fact: model.Fact, why: Sequence[str] = ()) -> Self:
        return cls(id=ID(fact.id), text=fact.text, tags=list(fact.tags), created_at=fact.created_at, why=list(why))


@strawberry.type(name="Attention")
class AttentionType:
    """One feature's part in an importance score; the weights sum to 1."""

    feature: str = strawberry.field(description="Name of the feature.")
    value: float = strawberry.field(description="Value of the feature, 0 to 1.")
    weight: float = strawberry.field(description="Share in the importance, 0 to 1; the weights of a turn sum to 1.")


@strawberry.type(name="Prediction")
class PredictionType:
    """Prediction of the student's next message, and the information needed to answer it."""

    text: str = strawberry.field(description="The message that is expected next.")
    needed_info: list[str] = strawberry.field(description="What one needs to know to answer it, as key phrases.")


@strawberry.type(name="PromptUsage")
class PromptUsageType:
    """Model calls for one kind of question to a mind."""

    prompt: str = strawberry.field(
        description="`predict`, `respond`, `distil`, `extract`, `analyse`, `summarise` or `classify`; `other` for what "
        "an older version counted."
    )
    calls: int = strawberry.field(description="Number of model calls, 0 or more.")
    input_tokens: int = strawberry.field(description="Tokens sent to models, 0 or more.")
    output_tokens: int = strawberry.field(description="Tokens that models wrote, 0 or more.")
    cost: float = strawberry.field(description="Cost in US dollars, 0 or more.")


@strawberry.type(name="Usage")
class UsageType:
    """Model calls, their tokens, and what they cost in US dollars."""

    calls: int = strawberry.field(description="Number of model calls, 0 or more.")
    input_tokens: int = strawberry.field(description="Tokens sent to models, 0 or more.")
    output_tokens: int = strawberry.field(description="Tokens that models wrote, 0 or more.")
    cost: float = strawberry.field(description="Cost in US dollars, 0 or more.")
    prompts: list[PromptUsageType] = strawberry.field(description="The same by the kind of question that was asked.")

    @classmethod
    def of(cls, usage: model.Usage) -> Self:
        return cls(
            calls=usage.calls,
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cost=usage.cost,
            prompts=[PromptUsageType(**asdict(each)) for each in usage.prompts],
        )


@strawberry.type(name="ServiceToken")
class ServiceTokenType:
    """A bearer token that lives long and can be revoked; the token itself is kept nowhere."""

    id: ID = strawberry.field(description="Id by which it is revoked.")
    name: str = strawberry.field(description="The service that uses it.")
    role: str = strawberry.field(description="What its bearer may do: app, teacher, auditor, analyst or admin.")
    created_at: datetime = strawberry.field(description="When it was made (UTC).")
    expires_at: datetime = strawberry.field(description="When it expires (UTC).")
    used_at: datetime | None = strawberry.field(description="About when it was last used (UTC), to the hour.")
    revoked_at: datetime | None = strawberry.field(description="When it was revoked (UTC); null while it is valid.")

    @classmethod
    def of(cls, token: model.ServiceToken) -> Self:
        return cls(
            id=ID(token.id),
            name=token.name,
            role=token.role.value,
            created_at=token.created_at,
            expires_at=token.expires_at,
            used_at=token.used_at,
            revoked_at=token.revoked_at,
        )


@strawberry.type(name="Erased")
class ErasedType:
    """How much was deleted of a student."""

    memories: int = strawberry.field(description="Memories, 0 or more.")
    edges: int = strawberry.field(description="Edges of every kind, 0 or more.")
    ledger: int = strawberry.field(description="Ledger entries, 0 or more.")
    facts: int = strawberry.field(description="Facts, 0 or more.")
    uncertainties: int = strawberry.field(description="Uncertainties, 0 or more.")
    jobs: int = strawberry.field(description="Jobs, 0 or more.")
    other: int = strawberry.field(description="Other nodes: turns, sources, sessions, usage and the like, 0 or more.")

    @classmethod
    def of(cls, erased: model.Erased) -> Self:
        return cls(**asdict(erased))


@strawberry.type(name="ImportedStudent")
class ImportedStudentType:
    """An exported student that was made anew."""

    student_id: strawberry.ID = strawberry.field(description="Id of the new student.")
    nodes: int = strawberry.field(description="Nodes of the document, 0 or more.")
    edges: int = strawberry.field(description="Edges of the document, to concepts of the world included, 0 or more.")
    left_out: int = strawberry.field(description="Concepts and edges that the world does not have, 0 or more.")
    repeated: bool = strawberry.field(description="True: imported from this document before; nothing was changed.")

    @classmethod
    def of(cls, done: ImportedStudent) -> Self:
        return cls(
            student_id=strawberry.ID(done.student.id),
            nodes=done.nodes,
            edges=done.edges,
            left_out=done.left_out,
            repeated=done.repeated,
        )


@strawberry.type(name="Loss")
class LossType:
    """What there is less of one modality than before; below 0: more."""

    modality: model.Modality = strawberry.field(description="The modality.")
    nodes: int = strawberry.field(description="Memories less; below 0: more.")
    entropy: float = strawberry.field(
        description="Shannon entropy of gravity over its memories less, in bits; below 0: more."
    )
    gravity: float = strawberry.field(description="Sum of gravity less; below 0: more.")
    edge_weight: float = strawberry.field(
        description="Sum of the weights of edges at its memories less; below 0: more."
    )


@strawberry.type(name="Compression")
class CompressionType:
    """A compression that was done, or would be."""

    id: ID | None = strawberry.field(description="Id within the student; null where nothing was written.")
    at: datetime | None = strawberry.field(description="When it was done (UTC); null where nothing was written.")
    trigger: model.CompressionTrigger = strawberry.field(description="Why it was done.")
    nodes_before: int = strawberry.field(description="Memories before, 0 or more.")
    nodes_after: int = strawberry.field(description="Memories afterwards, 0 or more.")
    edges_before: int = strawberry.field(description="Edges between memories before, 0 or more.")
    edges_after: int = strawberry.field(description="Edges between memories afterwards, 0 or more.")
    pruned: int = strawberry.field(description="Memories that were deleted, 0 or more.")
    merged: int = strawberry.field(description="Memories that became part of a summary, 0 or more.")
    cycles: int = strawberry.field(description="Cycles that were run, 0 to 3.")
    loss: list[LossType] = strawberry.field(description="What was lost, by modality.")
    integrity_hash: str | None = strawberry.field(
        description="Keyed hash over ids, contents and edges of what is left; null where nothing was written."
    )

    @classmethod
    def of(cls, done: model.Compression) -> Self:
        told = {name: getattr(done, name) for name in asdict(done) if name not in ("id", "loss")}
        losses = [LossType(**asdict(loss)) for loss in done.loss]
        return cls(id=None if done.id is None else ID(done.id), loss=losses, **told)


@strawberry.type(name="RecalledTurn")
class RecalledTurnType:
    """An earlier turn of the session that fits the message."""

    seq: int = strawberry.field(description="Number of the turn among the student's turns, from 1.")
    text: str = strawberry.field(description="What the student said.")
    reply: str = strawberry.field(description="What was replied.")
    similarity: float = strawberry.field(description="Cosine similarity with the message, -1 to 1.")


@strawberry.type(name="Concern")
class ConcernType:
    """Danger that a message tells of; nothing of what was said."""

    id: ID = strawberry.field(description="Id of the concern, for correctConcern.")
    kind: model.ConcernKind = strawberry.field(description="Kind of danger.")
    urgency: int = strawberry.field(description="1 worrying, 2 serious, 3 acute.")
    about: str = strawberry.field(description="Whom it concerns: `self` (the student) or `other`.")
    at: datetime = strawberry.field(description="When it was said (UTC).")
    help: str = strawberry.field(description="Help text that graphmem's reply holds; show it beside a reply of yours.")
    person_should_look: bool = strawberry.field(description="Whether a person should look now: urgency 2 or 3.")
    corrected_at: datetime | None = strawberry.field(
        description="When it was taken back as a false alarm (UTC); null while it stands."
    )

    @classmethod
    def of(cls, concern: model.Concern, help_text: str = "") -> Self:
        return cls(
            id=ID(concern.id),
            kind=concern.kind,
            urgency=concern.urgency,
            about=concern.about.value,
            at=concern.at,
            help=concern.help or help_text,
            person_should_look=concern.urgency >= model.SERIOUS,
            corrected_at=concern.corrected_at,
        )


@strawberry.type(name="Turn")
class TurnType:
    """A message answered: what was expected, how surprising it was, what was learned and recalled."""

    outcome: strawberry.Private[model.TurnOutcome]
    session: strawberry.Private[model.Session]
    turn_id: ID = strawberry.field(description="Id that the app gave.")
    reply: str = strawberry.field(description="The reply, or the app's own.")
    degraded: bool = strawberry.field(description="Whether the offline mind answered though a model is configured.")
    matched: bool | None = strawberry.field(
        description="Whether the prediction came true (match of at least 0.6); null on the first turn."
    )
    match: float | None = strawberry.field(
        description="How well the last prediction fits the message, 0 to 1; null on the first turn."
    )
    parrot_match: float | None = strawberry.field(
        description="What the student's own message before would have matched as a prediction, 0 to 1; beside it "
        "`match` tells something. Null where nothing was expected."
    )
    learned_fact: FactType | None = strawberry.field(
        description="Fact learned because the prediction failed, if one was."
    )
    surprise: float = strawberry.field(description="Surprise signal, 0 to 1.")
    level: model.Level = strawberry.field(description="Level of the surprise.")
    importance: float = strawberry.field(description="Importance of the message, 0 to 1.")
    threshold: float = strawberry.field(description="Importance from which on the message is worth keeping, 0 to 1.")
    attention: list[AttentionType] = strawberry.field(description="Features of the importance with their weights.")
    recalled_facts: list[FactType] = strawberry.field(description="Facts that were recalled, best first.")
    recalled_turns: list[RecalledTurnType] = strawberry.field(
        description="Earlier turns of the session that were recalled, best first."
    )
    next_prediction: PredictionType = strawberry.field(description="What the student is expected to say next.")
    jobs: list[JobType] = strawberry.field(description="Background work that follows the turn.")
    usage: UsageType = strawberry.field(description="Model calls of this turn, without its jobs.")
    repeated: bool = strawberry.field(
        description="Whether this turnId had been answered before; then nothing was changed."
    )
    concern: ConcernType | None = strawberry.field(
        description="Danger that the message tells of; null otherwise. From urgency 2 a person should look."
    )

    @classmethod
    def of(cls, session: model.Session, outcome: model.TurnOutcome) -> Self:
        return cls(
            outcome=outcome,
            session=session,
            turn_id=ID(outcome.turn_id),
            reply=outcome.reply,
            degraded=outcome.degraded,
            matched=outcome.matched,
            match=outcome.match,
            parrot_match=outcome.parrot_match,
            learned_fact=FactType.of(outcome.fact) if outcome.fact else None,
            surprise=outcome.surprise,
            level=outcome.level,
            importance=outcome.importance,
            threshold=outcome.threshold,
            attention=[AttentionType(feature=a.feature, value=a.value, weight=a.weight) for a in outcome.attention],
            recalled_facts=[FactType.of(f) for f in outcome.recalled_facts],
            recalled_turns=[
                RecalledTurnType(seq=t.seq, text=t.text, reply=t.reply, similarity=t.similarity)
                for t in outcome.recalled_turns
            ],
            next_prediction=PredictionType(text=outcome.prediction, needed_info=list(outcome.needed_info)),
            jobs=[JobType.of(job) for job in outcome.jobs],
            usage=UsageType.of(outcome.usage),
            repeated=outcome.repeated,
            concern=None if outcome.concern is None else ConcernType.of(outcome.concern),
        )

    @strawberry.field(
        description="Uncertainties that the reply raises in passing, at most one; an app that replies weaves it in."
    )
    async def weave(self, info: Info) -> list[GraphUncertaintyType]:
        gm = info.context.gm
        found = await uncertainties_of_turn(gm, self.session, self.outcome.weave)
        return await shown_uncertainties(gm, self.session, self.session, found)

    @strawberry.field(description="The memories that were recalled, best first.")
    async def recalled(self, info: Info) -> list[RecalledType]:
        gm = info.context.gm
        found = await memories.recalled_again(gm, self.session, self.outcome.recalled)
        return [RecalledType.of(self.session, each, gm.clock()) for each in found]

    @strawberry.field(
        description="Whether a memory formed of the message was consolidated; null until consolidation has judged "
        "them, at the end of the session, and where it left none. Afterwards `Student.kept` tells it."
    )
    async def kept(self, info: Info) -> bool | None:
        (kept,) = await find_kept(info.context.gm, self.session, [self.turn_id])
        return kept

    @strawberry.field(description="The ledger entries that surfaced.")
    async def ledger(self, info: Info) -> list[LedgerEntryType]:
        found = await memories.surfaced_again(info.context.gm, self.session, self.outcome.ledger)
        return [LedgerEntryType.of(entry) for entry in found]


@strawberry.type(name="WellbeingWeek")
class WellbeingWeekType:
    """Counts and means of a week, of what is clear."""

    week: date = strawberry.field(description="Monday of the week (UTC).")
    turns: int = strawberry.field(description="Turns, 0 or more.")
    mean_valence: float | None = strawberry.field(description="Mean valence of what was said, -1 to 1; null: nothing.")
    emotional_memories: int = strawberry.field(description="Emotional memories, 0 or more.")
    threats: int = strawberry.field(description="Concerns raised and not taken back, 0 or more.")
    secrets: int = strawberry.field(description="Secrets told, 0 or more.")
    mean_surprise: float | None = strawberry.field(description="Mean surprise, 0 to 1; null where nothing was said.")


@strawberry.type(name="Wellbeing")
class WellbeingType:
    """Wellbeing of a student without anything that was said: counts, means, and concerns."""

    student_id: ID = strawberry.field(description="Id of the student.")
    weeks: list[WellbeingWeekType] = strawberry.field(description="Weeks asked for, oldest first.")
    open_threats: int = strawberry.field(description="Concerns that nobody has taken back, ever; 0 or more.")
    flag: bool = strawberry.field(description="Whether a concern of these weeks still stands: look at it.")
    concerns: list[ConcernType] = strawberry.field(
        description="Concerns of these weeks, newest first, at most 200; those taken back too."
    )

    @classmethod
    def of(cls, student_id: str, found: model.Wellbeing, help_text: str) -> Self:
        return cls(
            student_id=ID(student_id),
            weeks=[WellbeingWeekType(**vars(week)) for week in found.weeks],
            open_threats=found.open_concerns,
            flag=any(concern.corrected_at is None for concern in found.concerns),
            concerns=[ConcernType.of(concern, help_text) for concern in found.concerns],
        )


@strawberry.type(name="TurnEvent")
class TurnEventType:
    """A piece of the reply while it is written, then the whole turn."""

    token: str | None = strawberry.field(default=None, description="Next piece of the reply; null in the last event.")
    turn: TurnType | None = strawberry.field(default=None, description="The whole turn, in the last event.")


@strawberry.type(name="AnalysisQuery")
class AnalysisQueryType:
    """A named query for analysts."""

    name: str = strawberry.field(description="Its name.")
    description: str = strawberry.field(description="The question it answers.")
    params: JSON = strawberry.field(description="Types of its parameters by name; the institution is the token's.")


@strawberry.type(name="Analysis")
class AnalysisType:
    """What an analysis found: structure and numbers, nothing that was said."""

    rows: JSON = strawberry.field(description="A list of objects, one a row, with a value for each column.")
    truncated: bool = strawberry.field(description="Whether there were more rows than these 2,000.")


@strawberry.type(name="MemoryEvent")
class MemoryEventType:
    """Something that happened to a memory, whichever process did it."""

    kind: str = strawberry.field(
        description="`formed`, `reinforced` (said again), `superseded` (holds no longer), `doubted` (uncertain or "
        "contradicted), `flashbulb` (never fades from now on), `compressed` (gone into a summary or pruned), "
        "`forgotten` (deleted) or `concern` (a message tells of danger)."
    )
    memory_id: ID = strawberry.field(description="Id of the memory; of a concern its own id.")
    at: datetime = strawberry.field(description="When it was noticed (UTC).")

    @classmethod
    def of(cls, event: model.MemoryEvent) -> Self:
        return cls(kind=event.kind.value, memory_id=ID(event.memory_id), at=event.at)


@strawberry.type(name="Session")
class SessionType:
    """An open session: send the token in X-Graphmem-Session."""

    token: str = strawberry.field(description="Session token; keep it secret.")
    expires_at: datetime = strawberry.field(
        description="When the session ends (UTC) if it is not used any more; each use lets it end later."
    )
    ends_at: datetime = strawberry.field(description="When the session ends at the latest (UTC).")


@strawberry.type(name="ContextMessage")
class ContextMessageType:
    """A message of a conversation as frameworks for language models take it."""

    role: str = strawberry.field(description="`system`, `user` or `assistant`.")
    content: str = strawberry.field(description="The text.")


@strawberry.type(name="Context")
class ContextType:
    """Context for answering a message: a block for the companion's prompt, and the items in it."""

    prompt: str = strawberry.field(
        description="Block for a companion's prompt; empty where nothing is remembered that fits."
    )
    messages: list[ContextMessageType] = strawberry.field(
        description="The same for a framework's message list: the latest turns asked for, then the block as a "
        "`system` message; the student's message is put after it."
    )
    tokens: int = strawberry.field(description="Tokens of the prompt, 0 to tokenBudget, estimated.")
    memories: list[RecalledType] = strawberry.field(description="Memories in the prompt, best first.")
    ledger: list[LedgerEntryType] = strawberry.field(description="Ledger entries in the prompt.")
    facts: list[FactType] = strawberry.field(description="Facts in the prompt.")
    weave: list[GraphUncertaintyType] = strawberry.field(
        description="Uncertainties in the prompt that may be raised in passing."
    )


@strawberry.type(name="Companion")
class CompanionType:
    """The companion assigned to a student: who it is, and what it knows best."""

    name: str = strawberry.field(description="How it is called.")
    persona: str = strawberry.field(description="Who it is and how it speaks.")
    expertise: list[str] = strawberry.field(description="Concepts it knows best; they count in importance.")

    @classmethod
    def of(cls, companion: model.Companion) -> Self:
        return cls(name=companion.name, persona=companion.persona, expertise=list(companion.expertise))


@strawberry.type(name="Integrity")
class IntegrityType:
    """What was altered by hand in the database.

    Ids are those of nodes, or of the ends of a relationship around its type; `manifest` is the record itself.
    """

    intact: bool = strawberry.field(description="Whether everything is as the service wrote it.")
    hash: str = strawberry.field(description="Keyed hash over all of the student as it is; empty without a record.")
    altered: list[ID] = strawberry.field(description="What is there and differs.")
    removed: list[ID] = strawberry.field(description="What is no longer there.")
    added: list[ID] = strawberry.field(description="What the service never wrote.")
    fields: list[str] = strawberry.field(description="Which properties differ, as id.property.")

    @classmethod
    def of(cls, found: model.Integrity) -> Self:
        return cls(
            intact=found.intact,
            hash=found.hash,
            altered=[ID(each) for each in found.altered],
            removed=[ID(each) for each in found.removed],
            added=[ID(each) for each in found.added],
            fields=list(found.fields),
        )


@strawberry.type(name="Student")
class StudentType:
    """A student; sealed fields need the student's session."""

    institution: strawberry.Private[str]
    id: ID = strawberry.field(description="Id within the institution.")
    created_at: datetime = strawberry.field(description="When the student was enrolled (UTC).")
    locked: bool = strawberry.field(
        description="Whether this request cannot open what is sealed, for lack of the student's running session."
    )
    display_name: str | None = strawberry.field(
        description="How the student is called; null while locked, or where no name was given."
    )
    tolerance: float = strawberry.field(description="Tolerance of the companion for uncertainty, 0.2 to 0.8.")
    companion: CompanionType | None = strawberry.field(description="The student's companion; null while locked.")
    recoveries: list[datetime] = strawberry.field(
        description="When a new password was set with the institution's recovery key (UTC), oldest first."
    )

    @classmethod
    def of(cls, student: model.Student, *, locked: bool) -> Self:
        return cls(
            institution=student.institution,
            id=ID(student.id),
            created_at=student.created_at,
            locked=locked,
            display_name=student.display_name,
            tolerance=student.tolerance,
            companion=None if student.companion is None else CompanionType.of(student.companion),
            recoveries=list(student.recoveries),
        )

    @strawberry.field(description="Memories there are, 0 or more.")
    async def memory_count(self, info: Info) -> int:
        memories_there, _ = await info.context.loaders.counts.load(self._who)
        return memories_there

    @strawberry.field(description="Jobs that are not done yet, or wait for a session; 0 or more.")
    async def waiting_jobs(self, info: Info) -> int:
        _, waiting = await info.context.loaders.counts.load(self._who)
        return waiting

    @strawberry.field(description="Facts, newest first.")
    async def facts(
        self, info: Info, first: Annotated[int | None, argument("Most facts, 1 to 200.")] = 200, as_of: AsOf = None
    ) -> list[FactType]:
        session = in_session(info, self.id)
        found = await list_facts(info.context.gm, session, 200 if first is None else first, as_of)
        return [FactType.of(fact) for fact in found]

    @strawberry.field(description="A page of memories, newest first.")
    async def memories(
        self,
        info: Info,
        modality: Annotated[model.Modality | None, argument("Only of this modality; null: any.")] = None,
        kind: Annotated[model.MemoryKind | None, argument("Only of this kind; null: any.")] = None,
        reliability: Annotated[model.Reliability | None, argument("Only of this reliability; null: any.")] = None,
        min_gravity: Annotated[float | None, argument("Least gravity of now, 0 to 1.")] = None,
        as_of: AsOf = None,
        first: First = 20,
        after: After = None,
    ) -> MemoryPageType:
        gm, wanted = info.context.gm, Filter(modality, kind, reliability, min_gravity or 0.0, as_of)
        session = session_to_read(info, self.id, model.Role.AUDITOR)
        page = await memories.list_memories(gm, self._who, wanted, 20 if first is None else first, after, session)
        return MemoryPageType(who=self._who, wanted=wanted, items=self._shown(info, page.items), next=page.next)

    @strawberry.field(
        description="Of each turn asked for, in the same order, also after its session has ended: whether a memory "
        "formed of the message was consolidated; null while that is not judged, and where the message left none."
    )
    async def kept(
        self, info: Info, turn_ids: Annotated[list[ID], argument("The turnIds that the app gave, at most 200.")]
    ) -> list[bool | None]:
        await running_session_to_read(info, self.id, model.Role.AUDITOR)
        return list(await find_kept(info.context.gm, self._who, turn_ids))

    @strawberry.field(description="A memory and what is a few edges away from it.")
    async def around(
        self,
        info: Info,
        memory_id: Annotated[ID, argument("Id of the memory.")],
        hops: Annotated[int | None, argument("Most edges on the way, 0 to 3.")] = 2,
        min_weight: Annotated[float | None, argument("Least weight of each edge on the way, 0 to 1.")] = 0.0,
        as_of: AsOf = None,
    ) -> GraphType:
        session, most = session_to_read(info, self.id, model.Role.AUDITOR), 2 if hops is None else hops
        found, edges = await memories.find_around(
            info.context.gm, self._who, memory_id, most, min_weight or 0.0, session, as_of
        )
        return GraphType(memories=self._shown(info, found), edges=[GraphEdgeType.of(edge) for edge in edges])

    @strawberry.field(description="The memories that fit a question, best first, and why.")
    async def recall(
        self,
        info: Info,
        query: Annotated[str, argument("The question, 1 to 32,000 characters.")],
        limit: Annotated[int | None, argument("Most memories, 1 to 100.")] = 20,
        as_of: AsOf = None,
    ) -> list[RecalledType]:
        gm, session = info.context.gm, in_session(info, self.id)
        with recall_seconds.time():
            found = await contexts.recall(gm, session, query, 20 if limit is None else limit, as_of)
        return [RecalledType.of(session, each, gm.clock()) for each in found]

    @strawberry.field(description="What a companion should know for a message, within a token budget.")
    async def context(
        self,
        info: Info,
        query: Annotated[str, argument("The message, 1 to 32,000 characters.")],
        token_budget: Annotated[int | None, argument("Most tokens of the prompt, 1 to 32,000.")] = 2000,
        as_of: AsOf = None,
        history: Annotated[
            int | None,
            argument(
                "Latest turns of the session that stand in `messages`, 0 to 50; what was said in them is left out of "
                "the prompt."
            ),
        ] = 0,
    ) -> ContextType:
        gm, session = info.context.gm, in_session(info, self.id)
        with recall_seconds.time():
            budget = 2000 if token_budget is None else token_budget
            found = await contexts.context(gm, session, query, budget, as_of, history or 0)
        return ContextType(
            prompt=found.prompt,
            messages=[ContextMessageType(role=each.role, content=each.content) for each in found.messages],
            tokens=found.tokens,
            memories=[RecalledType.of(session, each, gm.clock()) for each in found.memories],
            ledger=[LedgerEntryType.of(entry, found.why.get(entry.id, ())) for entry in found.ledger],
            facts=[FactType.of(fact, found.why.get(fact.id, ())) for fact in found.facts],
            weave=await shown_uncertainties(gm, session, session, found.weave),
        )

    @strawberry.field(description="The ledger, newest first.")
    async def ledger(
        self,
        info: Info,
        category: Annotated[model.LedgerCategory | None, argument("Only of this category; null: any.")] = None,
        active: Annotated[bool | None, argument("Only active entries, or only the others; null: all.")] = None,
        as_of: AsOf = None,
    ) -> list[LedgerEntryType]:
        found = await list_entries(info.context.gm, in_session(info, self.id), category, active, as_of)
        return [LedgerEntryType.of(entry) for entry in found]

    @strawberry.field(
        description="Doubts about memories, newest first, at most 500; their texts are null while locked."
    )
    async def uncertainties(
        self,
        info: Info,
        state: Annotated[model.UncertaintyState | None, argument("Only of this state; null: any.")] = None,
        severity: Annotated[model.Severity | None, argument("Only of this severity; null: any.")] = None,
        topic: Annotated[
            str | None,
            argument("Only what has to do with this, 1 to 2,000 characters; needs the student's session; null: any."),
        ] = None,
        as_of: AsOf = None,
    ) -> list[GraphUncertaintyType]:
        gm, session = info.context.gm, session_to_read(info, self.id, model.Role.AUDITOR)
        found = await list_uncertainties(gm, self._who, session, state, severity, topic, as_of)
        return await shown_uncertainties(gm, self._who, session, found)

    @strawberry.field(description="Compressions of the memories, newest first: counts and losses.")
    async def compressions(
        self, info: Info, first: Annotated[int | None, argument("Most compressions, 1 to 200.")] = 20
    ) -> list[CompressionType]:
        await running_session_to_read(info, self.id, model.Role.AUDITOR)
        found = await list_compressions(info.context.gm, self._who, 20 if first is None else first)
        return [CompressionType.of(each) for each in found]

    @strawberry.field(
        description="Compare all that is kept of the student with what the service wrote: what was altered, removed or "
        "added by hand in the database. Needs no key of the student."
    )
    async def verify_integrity(self, info: Info) -> IntegrityType:
        await running_session_to_read(info, self.id, model.Role.AUDITOR, model.Role.ADMIN)
        return IntegrityType.of(await verify_integrity(info.context.gm, self._who))

    @strawberry.field(description="Questions that surprises left open and nobody has answered, longest waiting first.")
    async def questions(self, info: Info) -> list[QuestionType]:
        session = await in_running_session(info, self.id)
        return [QuestionType.of(question) for question in await list_questions(info.context.gm, session)]

    @strawberry.field(description="The concepts of the world that the student knows, by id. Needs the session.")
    async def overlay(self, info: Info, first: First = 100, after: After = None) -> OverlayPageType:
        session = await in_running_session(info, self.id)
        found = await list_overlay(info.context.gm, session, 100 if first is None else first, after, session)
        return OverlayPageType.of(found)

    @strawberry.field(
        description="Unknown concepts all of whose prerequisites are known, for the app alone: names that the "
        "companion may not say yet. Needs the session."
    )
    async def frontier(
        self, info: Info, limit: Annotated[int | None, argument("Most concepts, 1 to 200.")] = 10
    ) -> list[ConceptType]:
        session = await in_running_session(info, self.id)
        found = await find_frontier(info.context.gm, session, 10 if limit is None else limit)
        return [ConceptType.of(each) for each in found]

    @strawberry.field(
        description="How the student is getting on with known concepts: what should be practised soonest first, what "
        "never was last. Numbers and concepts, nothing that was said: for teachers, too; an app needs the session."
    )
    async def progress(
        self,
        info: Info,
        first: Annotated[int | None, argument("Most concepts, 1 to 200.")] = 200,
        after: Annotated[
            ID | None, argument("Id of the last concept of the page before; null: the first page.")
        ] = None,
    ) -> list[ProgressType]:
        await running_session_to_read(info, self.id, model.Role.TEACHER)
        found = await list_progress(info.context.gm, self._who, 200 if first is None else first, after)
        return [ProgressType.of(each) for each in found]

    @strawberry.field(
        description="Known concepts about to be forgotten, the soonest first: their chance of recall falls below 0.7 "
        "within some days. For teachers, too; an app needs the session."
    )
    async def fading(
        self,
        info: Info,
        days: Annotated[int | None, argument("Days that are looked ahead, 1 to 365.")] = 7,
        first: First = 20,
        after: After = None,
    ) -> ProgressPageType:
        await running_session_to_read(info, self.id, model.Role.TEACHER)
        ahead, most = 7 if days is None else days, 20 if first is None else first
        return ProgressPageType.of(await list_fading(info.context.gm, self._who, ahead, most, after))

    @property
    def _who(self) -> model.Who:
        return model.Who(self.institution, self.id)

    def _shown(self, info: Info, found: Sequence[model.Memory]) -> list[MemoryType]:
        now = info.context.gm.clock()
        return [MemoryType.of(self._who, memory, now) for memory in found]


@strawberry.type(name="StudentSummary")
class StudentSummaryType:
    """A student in the institution's list: counts, and nothing that was said."""

    id: ID = strawberry.field(description="Id within the institution.")
    created_at: datetime = strawberry.field(description="When the student was enrolled (UTC).")
    memory_count: int = strawberry.field(description="Memories there are, 0 or more.")
    waiting_jobs: int = strawberry.field(description="Jobs that are not done yet, or wait for a session; 0 or more.")


@strawberry.type(name="StudentPage")
class StudentPageType:
    """Some students, how many there are, and where the next page begins."""

    items: list[StudentSummaryType] = strawberry.field(description="Students of this page, by id.")
    total: int = strawberry.field(description="Students in all pages, 0 or more.")
    next: str | None = strawberry.field(description="Value of `after` for the next page; null on the last.")
