"""The contract's types of what is watched over: cost, concerns, compression, integrity, analyses, what was erased."""

from dataclasses import asdict
from datetime import date, datetime
from typing import Self

import strawberry
from strawberry.scalars import JSON

from graphmem import model
from graphmem.flows.student_import import ImportedStudent
from graphmem_api.arguments import ID
from graphmem_api.enums import register_enums

# Before the classes, which refer to them.
register_enums()


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
