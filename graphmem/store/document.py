"""The document of a student: what is exported and imported, kind by kind (spec 14).

Each class below is a kind of node with the properties that leave the database; the JSON schema of the document is made
of them (`scripts/export_schema.py`). A property of another name is neither exported nor imported.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from graphmem.model import (
    AboutWhom,
    Aspect,
    CompressionTrigger,
    ConcernKind,
    DetectionContext,
    Domain,
    EdgeType,
    EntityKind,
    LedgerCategory,
    Level,
    MemoryKind,
    MemoryRole,
    Modality,
    PracticeOutcome,
    QuestionState,
    Reliability,
    Resolution,
    Severity,
    TurnState,
    UncertaintyState,
    UncertaintyType,
    Verdict,
)

FORMAT: Literal["graphmem-student"] = "graphmem-student"
FORMAT_VERSION: Literal[2] = 2


class SealedForm(StrEnum):
    """Form of a sealed value when it is opened."""

    TEXT = "text"
    JSON = "json"
    PACKED = "packed"  # compressed JSON
    WORK = "work"  # payload of a job, whose kind says how it is sealed


SealedText = Annotated[str, SealedForm.TEXT]
SealedTexts = Annotated[list[str], SealedForm.JSON]
SealedMap = Annotated[dict[str, Any], SealedForm.JSON]

Name = Annotated[str, StringConstraints(min_length=1, max_length=500)]
Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Number = Annotated[float, Field(allow_inf_nan=False)]


def _without_zone_name(value: Any) -> Any:
    """Neo4j writes a zone's name behind the offset."""
    return value.partition("[")[0] if isinstance(value, str) else value


Time = Annotated[AwareDatetime, BeforeValidator(_without_zone_name)]


class Part(BaseModel):
    """Part of the document: nothing in it that is not named."""

    model_config = ConfigDict(extra="forbid", use_enum_values=True, frozen=True)


class StudentPart(Part):
    """Properties of the student, without keys."""

    id: Name
    created_at: Time
    version: Count
    memory_version: Count
    overlay_version: Count | None = None
    memories_removed: Count
    turns: Count
    facts: Count
    calls: Count
    input_tokens: Count
    output_tokens: Count
    cost: Annotated[Number, Field(ge=0)]
    jobs_at: Time | None = None
    decayed_at: Time | None = None
    reconciled_at: Time | None = None
    reconciled_cycles: Count | None = None
    signals: list[Share] | None = None
    corrected_signals: list[Share] | None = None
    corrected_levels: list[Level] | None = None
    verdicts: list[Verdict] | None = None
    habits: list[Name] | None = None
    habits_shown: list[Count] | None = None
    habits_moments: list[Count] | None = None
    asked_turn: Count | None = None
    episode_turn: Count | None = None
    recoveries: list[Time] | None = None
    display_name: SealedText | None = None


class PersonaPart(Part):
    """Name and persona of a companion."""

    name: str
    persona: str


class CompanionPart(Part):
    """Properties of the companion."""

    id: Literal["companion"]
    tolerance: Annotated[float, Field(ge=0.2, le=0.8)]
    expertise: list[str]
    persona: Annotated[PersonaPart, SealedForm.JSON]
    prediction: SealedMap | None = None


class Details(Part):
    """Sealed details of a memory."""

    speaker: str | None = None
    before: str | None = None
    quote: str | None = None
    original: str | None = None
    slot: str | None = None
    statements: list["StatementPart"] = []


class StatementPart(Part):
    """Statement that became part of a summary; `keyed` as of a node."""

    content: str
    quote: str | None
    at: int
    modality: Modality
    kind: MemoryKind
    aspect: Aspect | None
    valence: Annotated[float, Field(ge=-1, le=1)]
    slot_key: str | None
    content_hash: str
    source_ref: str
    keyed: dict[Literal["content_hash", "slot_key"], str] | None = None


class MemoryPart(Part):
    """Properties of a memory."""

    id: Name
    kind: MemoryKind
    role: MemoryRole
    domain: Domain
    aspect: Aspect | None = None
    gravity: Share
    gravity_now: Share | None = None
    decayed_at: Time | None = None
    salience: Share
    confidence: Share
    strength: Share
    importance: Share
    valence: Annotated[float, Field(ge=-1, le=1)]
    timestamp: Time
    last_accessed: Time
    access_count: Count
    reliability: Reliability
    reinforcement_count: Count
    last_reinforced_at: Time | None = None
    source_kind: Name
    snr: Annotated[int, Field(ge=0, le=1000)]
    passes: Count
    features: list[Number] | None = None
    activity: Annotated[Number, Field(ge=0)] | None = None
    surprise: Share | None = None
    surprise_level: Level | None = None
    episode: bool | None = None
    flashbulb: bool
    verdict: Verdict | None = None
    valid_at: Time | None = None
    invalid_at: Time | None = None
    slot_key: Name | None = None
    content_hash: Name
    merged_count: Count
    consolidated: bool
    considered: bool | None = None
    considered_at: Time | None = None
    in_ledger: bool
    written: Count
    content: SealedText
    details: Annotated[Details, SealedForm.JSON]
    surprise_response: SealedMap | None = None
    verdict_note: SealedText | None = None


class FactPart(Part):
    """Properties of a fact."""

    id: Name
    seq: Count
    created_at: Time
    origin: Name | None = None
    invalid_at: Time | None = None
    text: SealedText
    tags: SealedTexts


class LedgerEntryPart(Part):
    """Properties of a ledger entry."""

    id: Name
    category: LedgerCategory
    importance: Share
    trigger_threshold: Share
    is_active: bool
    created_at: Time
    expires_at: Time | None = None
    settled_at: Time | None = None
    ended: bool | None = None
    content: SealedText
    summary: SealedText
    triggers: SealedTexts
    trigger_entities: SealedTexts
    note: SealedText | None = None


class EntityPart(Part):
    """Properties of an entity."""

    id: Name
    kind: EntityKind
    key: Name
    name: SealedText


class UncertaintyPart(Part):
    """Properties of an uncertainty."""

    id: Name
    type: UncertaintyType
    severity: Severity
    detection_context: DetectionContext
    temporal_signal: bool
    state: UncertaintyState
    resolution_strategy: Resolution | None = None
    surfaced_count: Count
    last_surfaced_at: Time | None = None
    created_at: Time
    resolved_at: Time | None = None
    reasoning: SealedText | None = None
    surface_context: SealedText | None = None
    resolution_detail: SealedText | None = None
    undo: SealedMap | None = None


class ConcernPart(Part):
    """Properties of a concern."""

    id: Name
    kind: ConcernKind
    urgency: Annotated[int, Field(ge=1, le=3)]
    about: AboutWhom
    at: Time
    probability: Share
    level: Level | None = None
    corrected_at: Time | None = None
    text: SealedText | None = None
    note: SealedText | None = None


class QuestionPart(Part):
    """Properties of a question, or of a reflection."""

    id: Name
    state: QuestionState
    created_at: Time
    asked_at: Time | None = None
    answered_at: Time | None = None
    text: SealedText


class TurnPart(Part):
    """Properties of a turn of the running talk."""

    id: Name
    seq: Count | None = None
    at: Time
    state: TurnState
    surprise: Share | None = None
    match: Share | None = None
    replied_by: Name | None = None
    session_id: Name | None = None
    received_at: Time | None = None
    used: list[Name] | None = None
    text: SealedText
    reply: SealedText | None = None
    given_reply: SealedText | None = None
    task: SealedText | None = None
    opener: SealedText | None = None
    outcome: Annotated[dict[str, Any], SealedForm.PACKED] | None = None


class SourcePart(Part):
    """Properties of a source."""

    id: Name
    kind: Name
    ref: Name
    at: Time
    formed_at: Time | None = None
    snr: Annotated[int, Field(ge=0, le=1000)] | None = None


class CompressionPart(Part):
    """Properties of the record of a compression."""

    id: Name
    at: Time
    trigger: CompressionTrigger
    nodes_before: Count
    nodes_after: Count
    edges_before: Count
    edges_after: Count
    pruned: Count
    merged: Count
    cycles: Count
    loss_modalities: list[Modality]
    loss_nodes: list[int]
    loss_entropy: list[Number]
    loss_gravity: list[Number]
    loss_edge_weight: list[Number]
    integrity_hash: str | None = None


class JobPart(Part):
    """Properties of a job that waits or is dead."""

    id: Name
    kind: Name
    state: Literal["waiting", "dead"]
    attempts: Count
    created_at: Time
    run_after: Time
    seq: Count | None = None
    error: str | None = None
    payload: Annotated[dict[str, Any], SealedForm.WORK]


class UsagePart(Part):
    """Properties of the use of language models on a day."""

    day: date
    kind: Name
    prompt: Name | None = None
    calls: Count
    input_tokens: Count
    output_tokens: Count
    cost: Annotated[Number, Field(ge=0)]


NODE_KINDS: Mapping[str, type[Part]] = {
    "Student": StudentPart,
    "Companion": CompanionPart,
    "Memory": MemoryPart,
    "Fact": FactPart,
    "LedgerEntry": LedgerEntryPart,
    "Entity": EntityPart,
    "Uncertainty": UncertaintyPart,
    "Concern": ConcernPart,
    "Question": QuestionPart,
    "Reflection": QuestionPart,
    "Turn": TurnPart,
    "Source": SourcePart,
    "Compression": CompressionPart,
    "Job": JobPart,
    "Usage": UsagePart,
}
"""The kinds of nodes by their labels."""
MODALITY_LABELS = frozenset(modality.value.capitalize() for modality in Modality)


class NodePart(Part):
    """A node: its number in the document, its labels, and its properties, what is sealed opened.

    `keyed` tells what keyed hashes were made of, where that is known; `tampered` names properties that did not open and
    are left out.
    """

    number: Count
    labels: Annotated[list[str], Field(min_length=1, max_length=2)]
    properties: dict[str, Any]
    keyed: dict[Literal["content_hash", "slot_key", "id"], str] | None = None
    tampered: list[Name] | None = None


class EdgeProperties(Part):
    """Properties of a relationship; those between memories have the first four."""

    weight: Share | None = None
    reliability: Reliability | None = None
    created_at: Time | None = None
    inferred_by: Name | None = None
    start: Count | None = None
    end: Count | None = None
    side: Literal["a", "b"] | None = None
    outcome: PracticeOutcome | None = None
    settled: Reliability | None = None
    type: Name | None = None
    to_id: Name | None = None


STRUCTURE = (
    "FORMED_FROM",
    "ACCOMPANIES",
    "LEARNED",
    "SAID",
    "KEEPS",
    "SHOWS",
    "COMPRESSED",
    "KEPT_AS",
    "CONCERNS",
    "EXPERIENCES",
    "RAISES",
)
EDGE_TYPES = frozenset([*STRUCTURE, *EdgeType])


class EdgePart(Part):
    """A relationship between two nodes of the document, by their numbers."""

    from_: Annotated[int, Field(alias="from")]
    to: Count
    type: Name
    properties: EdgeProperties


class LinkPart(Part):
    """A relationship from a node of the document to a concept of the institution's world."""

    from_: Annotated[int, Field(alias="from")]
    concept: Name
    type: Literal["ABOUT", "PRACTISED"]
    properties: EdgeProperties


class PracticePart(Part):
    """One time that a concept was practised, or set by hand."""

    at: Time
    outcome: PracticeOutcome
    set_to: Share | None = None


class KnownPart(Part):
    """A concept of the world that the student knows."""

    concept: Name
    name: str
    attitude: Annotated[float, Field(ge=-1, le=1)]
    familiarity: Share
    since: Time
    set_at: Time | None = None
    mastery: Share | None = None
    stability: Annotated[Number, Field(ge=0)] | None = None
    difficulty: Number | None = None
    practised_at: Time | None = None
    due_at: Time | None = None
    notes: str | None = None
    practice: list[PracticePart] = []


class DiscoveredPart(Part):
    """An edge of the world that the student has found."""

    edge_id: Name
    since: Time


class StudentDocument(Part):
    """All that is kept of a student, opened."""

    format: Literal["graphmem-student"]
    version: Literal[2]
    institution: Name
    student_id: Name
    exported_at: Time
    nodes: list[NodePart]
    edges: list[EdgePart]
    links: list[LinkPart]
    overlay: list[KnownPart]
    discovered: list[DiscoveredPart]


@dataclass(frozen=True)
class SealedField:
    """A sealed property, and the form it has when it is opened."""

    name: str
    form: SealedForm


def sealed_fields(label: str) -> Iterator[SealedField]:
    """The sealed properties of a kind of node, without embeddings.

    Examples
    --------
    >>> [each.name for each in sealed_fields("Fact")]
    ['text', 'tags']
    """
    for name, field in NODE_KINDS[label].model_fields.items():
        for note in (*field.metadata, *_notes(field.annotation)):
            if isinstance(note, SealedForm):
                yield SealedField(name, note)


def _notes(annotation: Any) -> Iterator[Any]:
    """What is noted of the parts of a type such as `SealedText | None`."""
    yield from getattr(annotation, "__metadata__", ())
    for each in getattr(annotation, "__args__", ()):
        yield from getattr(each, "__metadata__", ())


def kind_of(labels: list[str] | frozenset[str]) -> str | None:
    """The label that says which kind of node it is; None where it is none that is exported."""
    return next((label for label in labels if label in NODE_KINDS), None)


def bound_to(label: str, name: str, properties: Mapping[str, Any], turns: int) -> str:
    """The id that a sealed property of a node is bound to.

    Parameters
    ----------
    label : str, kind of the node
    name : str, of the property
    properties : of the node
    turns : int, of the student, whom a prediction follows

    Examples
    --------
    >>> bound_to("Companion", "prediction", {"id": "companion"}, 7), bound_to("Fact", "text", {"id": "fact-1"}, 7)
    ('companion@7', 'fact-1')
    """
    if label == "Student":
        return "student"
    if label == "Companion":
        return "companion" if name == "persona" else f"companion@{turns}"
    return str(properties["id"])


def document_schema() -> dict[str, Any]:
    """The JSON schema of the document, with the properties of each kind of node under `$defs`."""
    schema = StudentDocument.model_json_schema(by_alias=True)
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    definitions = schema["$defs"]
    choices = []
    for label, part in NODE_KINDS.items():
        own = part.model_json_schema(ref_template="#/$defs/{model}")
        definitions |= own.pop("$defs", {})
        definitions[part.__name__] = own
        choices.append(
            {
                "if": {"properties": {"labels": {"contains": {"const": label}}}},
                "then": {"properties": {"properties": {"$ref": f"#/$defs/{part.__name__}"}}},
            }
        )
    definitions["NodePart"]["allOf"] = choices
    return schema
