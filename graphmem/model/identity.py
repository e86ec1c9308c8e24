"""Students and their sessions, as frozen values without behaviour (spec 1, 14, 15)."""

from dataclasses import dataclass, field
from datetime import datetime

from graphmem.model.conversation import Companion
from graphmem.model.enums import Role


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
    """

    session_id: str
    expires_at: datetime
    keys: Keys = field(repr=False)


@dataclass(frozen=True)
class Student:
    """Student data readable without any key; `display_name` and `companion` only with the keys.

    session_ids : of the sessions that run, the one opened first first
    recoveries : when a new password was set with the institution's recovery key
    """

    id: str
    institution: str
    created_at: datetime
    tolerance: float
    session_ids: tuple[str, ...]
    display_name: str | None = field(default=None, repr=False)
    companion: Companion | None = field(default=None, repr=False)
    recoveries: tuple[datetime, ...] = ()


@dataclass(frozen=True)
class ServiceToken:
    """What is known of a long-lived bearer token: all but the token itself.

    used_at : about when it was last used, to the hour
    revoked_at : when it was revoked; None while it is valid
    """

    id: str
    name: str
    role: Role
    created_at: datetime
    expires_at: datetime
    used_at: datetime | None = None
    revoked_at: datetime | None = None


@dataclass(frozen=True)
class StudentSummary:
    """A student in a list: counts only."""

    id: str
    created_at: datetime
    memory_count: int
    waiting_jobs: int
