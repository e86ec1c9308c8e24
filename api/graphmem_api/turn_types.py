"""The contract's types of a turn and all it tells, of contexts, and of events."""

from collections.abc import Sequence
from datetime import datetime
from typing import Self

import strawberry

from graphmem import model
from graphmem.flows import memories
from graphmem.flows.consolidation import find_kept
from graphmem.flows.uncertainty import uncertainties_of_turn
from graphmem_api.access import Info
from graphmem_api.arguments import ID
from graphmem_api.memory_types import GraphUncertaintyType, JobType, LedgerEntryType, RecalledType, shown_uncertainties
from graphmem_api.upkeep_types import ConcernType, UsageType


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


@strawberry.type(name="RecalledTurn")
class RecalledTurnType:
    """An earlier turn of the session that fits the message."""

    seq: int = strawberry.field(description="Number of the turn among the student's turns, from 1.")
    text: str = strawberry.field(description="What the student said.")
    reply: str = strawberry.field(description="What was replied.")
    similarity: float = strawberry.field(description="Cosine similarity with the message, -1 to 1.")


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


@strawberry.type(name="TurnEvent")
class TurnEventType:
    """A piece of the reply while it is written, then the whole turn."""

    token: str | None = strawberry.field(default=None, description="Next piece of the reply; null in the last event.")
    turn: TurnType | None = strawberry.field(default=None, description="The whole turn, in the last event.")


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
