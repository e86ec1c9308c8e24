"""Students, their sessions, integrity and compressions, as frozen values (spec 1, 13, 14, 15)."""

from dataclasses import dataclass, field
from datetime import datetime

from graphmem.model.conversation import Companion
from graphmem.model.enums import CompressionTrigger, Modality, Role
from graphmem.model.fields import Count, Name, Unstored


@dataclass(frozen=True)
class Integrity:
    """What was altered by hand in the database.

    Ids are those of nodes, or of the ends of a relationship around its type; `manifest` is the record itself.
    """

    intact: bool
    """Whether everything is as the service wrote it."""
    hash: str
    """Keyed hash over all of the student as it is; empty without a record."""
    altered: tuple[str, ...] = ()
    """What is there and differs."""
    removed: tuple[str, ...] = ()
    """What is no longer there."""
    added: tuple[str, ...] = ()
    """What the service never wrote."""
    fields: tuple[str, ...] = ()
    """Which properties differ, as id.property."""


@dataclass(frozen=True)
class ModalityLoss:
    """What there is less of one modality than before; below 0: more."""

    modality: Modality
    """The modality."""
    nodes: int
    """Memories less; below 0: more."""
    entropy: float
    """Shannon entropy of gravity over its memories less, in bits; below 0: more."""
    gravity: float
    """Sum of gravity less; below 0: more."""
    edge_weight: float
    """Sum of the weights of edges at its memories less; below 0: more."""


@dataclass(frozen=True)
class Compression:
    """A compression that was done, or would be."""

    trigger: CompressionTrigger
    """Why it was done."""
    nodes_before: Count
    """Memories before, 0 or more."""
    nodes_after: Count
    """Memories afterwards, 0 or more."""
    edges_before: Count
    """Edges between memories before, 0 or more."""
    edges_after: Count
    """Edges between memories afterwards, 0 or more."""
    pruned: Count
    """Memories that were deleted, 0 or more."""
    merged: Count
    """Memories that became part of a summary, 0 or more."""
    cycles: Count
    """Cycles that were run, 0 to 3."""
    loss: Unstored[tuple[ModalityLoss, ...]]
    """What was lost, by modality."""
    id: Name | None = None
    """Id within the student; null where nothing was written."""
    at: datetime | None = None
    """When it was done (UTC); null where nothing was written."""
    integrity_hash: str | None = None
    """Keyed hash over ids, contents and edges of what is left; null where nothing was written."""


@dataclass(frozen=True)
class Keys:
    """A student's keys while a session is open; never stored in clear (spec 14).

    `seal` seals content; `mark` makes keyed hashes. Both are 32 bytes derived from the student key.

    clear : the student's institution has chosen to seal nothing: contents are stored readable
    """

    seal: bytes = field(repr=False)
    mark: bytes = field(repr=False)
    clear: bool = field(default=False, repr=False)


@dataclass(frozen=True)
class Who:
    """In whose name something happens: the tenancy of every query of student data."""

    institution: str
    student_id: str


@dataclass(frozen=True)
class Session(Who):
    """An unlocked span of work of one student, one of several at once; `keys` open what is sealed.

    expires_at : its latest end; it ends before that where it is not used (`session_minutes`)
    time_zone : IANA name of the student's time zone, where one was given
    """

    session_id: str
    expires_at: datetime
    keys: Keys = field(repr=False)
    time_zone: str | None = None


@dataclass(frozen=True)
class Student:
    """Student data readable without any key; `display_name` and `companion` only with the keys.

    session_ids : of the sessions that run, the one opened first first
    recoveries : when a new password was set with the institution's recovery key
    """

    id: str
    """Id within the institution."""
    institution: str
    created_at: datetime
    """When the student was enrolled (UTC)."""
    tolerance: float
    """Tolerance of the companion for uncertainty, 0.2 to 0.8."""
    session_ids: tuple[str, ...]
    display_name: str | None = field(default=None, repr=False)
    """How the student is called; null while locked, or where no name was given."""
    companion: Companion | None = field(default=None, repr=False)
    """The student's companion; null while locked."""
    recoveries: tuple[datetime, ...] = ()
    """When a new password was set with the institution's recovery key (UTC), oldest first."""
    time_zone: str | None = None
    """IANA name of the time zone in which days are reckoned; null: as `at` has it."""


@dataclass(frozen=True)
class ServiceToken:
    """What is known of a long-lived bearer token: all but the token itself."""

    id: str
    """Id by which it is revoked."""
    name: str
    """The service that uses it."""
    role: Role
    """What its bearer may do: app, teacher, auditor, analyst or admin."""
    created_at: datetime
    """When it was made (UTC)."""
    expires_at: datetime
    """When it expires (UTC)."""
    used_at: datetime | None = None
    """About when it was last used (UTC), to the hour."""
    revoked_at: datetime | None = None
    """When it was revoked (UTC); null while it is valid."""


@dataclass(frozen=True)
class StudentSummary:
    """A student in a list: counts only."""

    id: str
    """Id within the institution."""
    created_at: datetime
    """When the student was enrolled (UTC)."""
    memory_count: int
    """Memories there are, 0 or more."""
    waiting_jobs: int
    """Jobs that are not done yet, or wait for a session; 0 or more."""
