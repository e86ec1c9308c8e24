"""The types of the contract, made from the nouns of `graphmem.model`."""

from datetime import datetime
from typing import Self

import strawberry

from api.access import Context, in_session
from api.memory_types import Job, LedgerEntry, Recalled, Uncertainty
from graphmem import model
from graphmem.flows.facts import list_facts

ID = strawberry.ID
Info = strawberry.Info[Context, None]


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
    recalled: list[Recalled]
    ledger: list[LedgerEntry]
    weave: list[Uncertainty]
    recalled_facts: list[Fact]
    recalled_turns: list[RecalledTurn]
    next_prediction: Prediction
    jobs: list[Job]
    usage: Usage
    repeated: bool

    @classmethod
    def of(cls, outcome: model.TurnOutcome) -> Self:
        return cls(
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
            recalled=[],
            ledger=[],
            weave=[],
            recalled_facts=[Fact.of(f) for f in outcome.recalled_facts],
            recalled_turns=[
                RecalledTurn(seq=t.seq, text=t.text, reply=t.reply, similarity=t.similarity)
                for t in outcome.recalled_turns
            ],
            next_prediction=Prediction(text=outcome.prediction, needed_info=list(outcome.needed_info)),
            jobs=[_job(job) for job in outcome.jobs],
            usage=Usage.of(outcome.usage),
            repeated=outcome.repeated,
        )


def _job(job: model.Job) -> Job:
    return Job(
        id=ID(job.id),
        kind=job.kind,
        student_id=ID(job.student_id),
        state=job.state,
        attempts=job.attempts,
        error=job.error,
        created_at=job.created_at,
        run_after=job.run_after,
    )


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
class Student:
    """A student; sealed fields need the student's session."""

    id: ID
    created_at: datetime
    locked: bool
    memory_count: int
    tolerance: float

    @classmethod
    def of(cls, student: model.Student, *, locked: bool) -> Self:
        return cls(
            id=ID(student.id),
            created_at=student.created_at,
            locked=locked,
            memory_count=student.memory_count,
            tolerance=student.tolerance,
        )

    @strawberry.field(description="Facts, newest first.")
    async def facts(self, info: Info, first: int | None = 200) -> list[Fact]:
        session = in_session(info, self.id)
        return [Fact.of(f) for f in await list_facts(info.context.gm, session, 200 if first is None else first)]
