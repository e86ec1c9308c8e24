"""The types of the contract, made from the nouns of `graphmem.model`."""

from collections.abc import Sequence
from datetime import datetime
from typing import Self

import strawberry

from graphmem import model
from graphmem.flows import context as contexts
from graphmem.flows import memories, students
from graphmem.flows.facts import list_facts
from graphmem.flows.ledger import list_entries
from graphmem.flows.surprise import list_questions
from graphmem.store.memories import Filter
from graphmem_api.access import Context as Requested
from graphmem_api.access import in_running_session, in_session, maybe_in_session
from graphmem_api.memory_types import (
    Edge,
    Graph,
    Job,
    LedgerEntry,
    Memory,
    MemoryPage,
    Question,
    Recalled,
    Uncertainty,
)

ID = strawberry.ID
Info = strawberry.Info[Requested, None]


@strawberry.type
class Fact:
    """What was learned when an expectation was violated."""

    id: ID
    text: str
    tags: list[str]
    created_at: datetime

    @classmethod
    def of(cls, fact: model.Fact) -> Self:
        return cls(id=ID(fact.id), text=fact.text, tags=list(fact.tags), created_at=fact.created_at)


@strawberry.type
class Attention:
    """One feature's part in an importance score; the weights sum to 1."""

    feature: str
    value: float
    weight: float


@strawberry.type
class Prediction:
    """What the student is expected to say next, and what one needs to know for it."""

    text: str
    needed_info: list[str]


@strawberry.type
class Usage:
    """Model calls, their tokens, and what they cost in US dollars."""

    calls: int
    input_tokens: int
    output_tokens: int
    cost: float

    @classmethod
    def of(cls, usage: model.Usage) -> Self:
        return cls(
            calls=usage.calls, input_tokens=usage.input_tokens, output_tokens=usage.output_tokens, cost=usage.cost
        )


@strawberry.type
class RecalledTurn:
    """An earlier turn of the session that fits the message."""

    seq: int
    text: str
    reply: str
    similarity: float


@strawberry.type
class Turn:
    """A message answered: what was expected, how surprising it was, what was learned and recalled."""

    outcome: strawberry.Private[model.TurnOutcome]
    session: strawberry.Private[model.Session]
    turn_id: ID
    reply: str
    degraded: bool
    matched: bool | None
    match: float | None
    learned_fact: Fact | None
    surprise: float
    level: model.Level
    importance: float
    threshold: float
    attention: list[Attention]
    weave: list[Uncertainty]
    recalled_facts: list[Fact]
    recalled_turns: list[RecalledTurn]
    next_prediction: Prediction
    jobs: list[Job]
    usage: Usage
    repeated: bool

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
            learned_fact=Fact.of(outcome.fact) if outcome.fact else None,
            surprise=outcome.surprise,
            level=outcome.level,
            importance=outcome.importance,
            threshold=outcome.threshold,
            attention=[Attention(feature=a.feature, value=a.value, weight=a.weight) for a in outcome.attention],
            weave=[],
            recalled_facts=[Fact.of(f) for f in outcome.recalled_facts],
            recalled_turns=[
                RecalledTurn(seq=t.seq, text=t.text, reply=t.reply, similarity=t.similarity)
                for t in outcome.recalled_turns
            ],
            next_prediction=Prediction(text=outcome.prediction, needed_info=list(outcome.needed_info)),
            jobs=[Job.of(job) for job in outcome.jobs],
            usage=Usage.of(outcome.usage),
            repeated=outcome.repeated,
        )

    @strawberry.field(description="The memories that were recalled, best first.")
    async def recalled(self, info: Info) -> list[Recalled]:
        gm = info.context.gm
        found = await memories.recalled_again(gm, self.session, self.outcome.recalled)
        return [Recalled.of(self.session, each, gm.clock()) for each in found]

    @strawberry.field(description="The ledger entries that surfaced.")
    async def ledger(self, info: Info) -> list[LedgerEntry]:
        found = await memories.surfaced_again(info.context.gm, self.session, self.outcome.ledger)
        return [LedgerEntry.of(entry) for entry in found]


@strawberry.type
class TurnEvent:
    """A piece of the reply while it is written, then the whole turn."""

    token: str | None = None
    turn: Turn | None = None


@strawberry.type
class Session:
    """An open session: send the token in X-Graphmem-Session."""

    token: str
    expires_at: datetime


@strawberry.type
class Context:
    """What a companion should know for a message, as a block for its prompt and piece by piece."""

    prompt: str
    tokens: int
    memories: list[Recalled]
    ledger: list[LedgerEntry]
    facts: list[Fact]
    weave: list[Uncertainty]


@strawberry.type
class Student:
    """A student; sealed fields need the student's session."""

    institution: strawberry.Private[str]
    id: ID
    created_at: datetime
    locked: bool
    tolerance: float

    @classmethod
    def of(cls, student: model.Student, *, locked: bool) -> Self:
        return cls(
            institution=student.institution,
            id=ID(student.id),
            created_at=student.created_at,
            locked=locked,
            tolerance=student.tolerance,
        )

    @strawberry.field(description="How many memories there are.")
    async def memory_count(self, info: Info) -> int:
        return (await students.count(info.context.gm, self._who))[0]

    @strawberry.field(description="How many jobs are not done yet, or wait for a session.")
    async def waiting_jobs(self, info: Info) -> int:
        return (await students.count(info.context.gm, self._who))[1]

    @strawberry.field(description="Facts, newest first.")
    async def facts(self, info: Info, first: int | None = 200) -> list[Fact]:
        session = in_session(info, self.id)
        return [Fact.of(f) for f in await list_facts(info.context.gm, session, 200 if first is None else first)]

    @strawberry.field(description="A page of memories, newest first.")
    async def memories(
        self,
        info: Info,
        modality: model.Modality | None = None,
        kind: model.MemoryKind | None = None,
        reliability: model.Reliability | None = None,
        min_gravity: float | None = None,
        as_of: datetime | None = None,
        first: int | None = 20,
        after: str | None = None,
    ) -> MemoryPage:
        gm, wanted = info.context.gm, Filter(modality, kind, reliability, min_gravity or 0.0, as_of)
        session = maybe_in_session(info, self.id)
        page = await memories.list_memories(gm, self._who, wanted, 20 if first is None else first, after, session)
        return MemoryPage(who=self._who, wanted=wanted, items=self._shown(info, page.items), next=page.next)

    @strawberry.field(description="A memory and what is a few edges away from it.")
    async def around(self, info: Info, memory_id: ID, hops: int | None = 2, min_weight: float | None = 0.0) -> Graph:
        session, most = maybe_in_session(info, self.id), 2 if hops is None else hops
        found, edges = await memories.find_around(
            info.context.gm, self._who, memory_id, most, min_weight or 0.0, session
        )
        return Graph(memories=self._shown(info, found), edges=[Edge.of(edge) for edge in edges])

    @strawberry.field(description="The memories that fit a question, best first, and why.")
    async def recall(
        self, info: Info, query: str, limit: int | None = 20, as_of: datetime | None = None
    ) -> list[Recalled]:
        gm, session = info.context.gm, in_session(info, self.id)
        found = await contexts.recall(gm, session, query, 20 if limit is None else limit, as_of)
        return [Recalled.of(session, each, gm.clock()) for each in found]

    @strawberry.field(description="What a companion should know for a message, within a token budget.")
    async def context(
        self, info: Info, query: str, token_budget: int | None = 2000, as_of: datetime | None = None
    ) -> Context:
        gm, session = info.context.gm, in_session(info, self.id)
        found = await contexts.context(gm, session, query, 2000 if token_budget is None else token_budget, as_of)
        return Context(
            prompt=found.prompt,
            tokens=found.tokens,
            memories=[Recalled.of(session, each, gm.clock()) for each in found.memories],
            ledger=[LedgerEntry.of(entry) for entry in found.ledger],
            facts=[Fact.of(fact) for fact in found.facts],
            weave=[],
        )

    @strawberry.field(description="The ledger, newest first.")
    async def ledger(
        self, info: Info, category: model.LedgerCategory | None = None, active: bool | None = None
    ) -> list[LedgerEntry]:
        found = await list_entries(info.context.gm, in_session(info, self.id), category, active)
        return [LedgerEntry.of(entry) for entry in found]

    @strawberry.field(description="Questions that surprises left open and nobody has answered, longest waiting first.")
    async def questions(self, info: Info) -> list[Question]:
        session = await in_running_session(info, self.id)
        return [Question.of(question) for question in await list_questions(info.context.gm, session)]

    @property
    def _who(self) -> model.Who:
        return model.Who(self.institution, self.id)

    def _shown(self, info: Info, found: Sequence[model.Memory]) -> list[Memory]:
        now = info.context.gm.clock()
        return [Memory.of(self._who, memory, now) for memory in found]
