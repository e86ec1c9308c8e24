"""The document of a student: what is exported and imported (spec 14).

The properties of its nodes are those that `graphmem.store.nodes` declares; the JSON schema of the document is made of
them (`scripts/export_schema.py`).
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from graphmem.model import EdgeType, Modality, PracticeOutcome, Reliability
from graphmem.model.fields import Count, Name, Share
from graphmem.store.nodes import NODE_KINDS, Number, Part, Time

FORMAT: Literal["graphmem-student"] = "graphmem-student"
FORMAT_VERSION: Literal[2] = 2
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
    "LIVED",
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
    practice: list[PracticePart] = Field(default=[])


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


def document_schema() -> dict[str, Any]:
    """Return the JSON schema of the document, with the properties of each kind of node under `$defs`."""
    schema = StudentDocument.model_json_schema(by_alias=True)
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    definitions = schema["$defs"]
    choices = []
    for label, kind in NODE_KINDS.items():
        part = kind.part
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
