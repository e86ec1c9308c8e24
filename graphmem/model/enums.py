"""Closed lists of words, the same in Python, Cypher and GraphQL (spec 1).

Docstrings of those in an answer's schema reach language models, so they cite no section: modality, memory kind, domain
and entity kind are of spec 1 and 2, edge types of 2, ledger categories of 8, strategies of 5.
"""

from enum import StrEnum


class Role(StrEnum):
    """Who speaks through the API (spec 15)."""

    APP = "app"
    TEACHER = "teacher"
    AUDITOR = "auditor"
    ANALYST = "analyst"
    ADMIN = "admin"


class Author(StrEnum):
    """Who wrote a message."""

    STUDENT = "student"
    COMPANION = "companion"


class Level(StrEnum):
    """Levels of surprise, lowest first (spec 5)."""

    NORMAL = "normal"
    BOUNDARY = "boundary"
    COGNITIVE_DISSONANCE = "cognitive_dissonance"
    PARADIGM_SHIFT = "paradigm_shift"


class TurnState(StrEnum):
    """Stored before the reply is known, or complete (spec 3)."""

    RECEIVED = "received"
    ANSWERED = "answered"


class JobState(StrEnum):
    """Where a piece of background work stands (spec 16)."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    DEAD = "dead"


class Modality(StrEnum):
    """In what way something is remembered."""

    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"
    EMOTIONAL = "emotional"
    SENSORY = "sensory"


class MemoryRole(StrEnum):
    """What a memory is to the others: said once, or made of what was said (spec 2, 5, 7)."""

    SAID = "said"
    EPISODE = "episode"  # of a surprise; abstracts what is said while it is under way
    BELIEF = "belief"  # taken up after a surprise
    PROCEDURE = "procedure"  # how the companion goes about such a situation
    TOPIC = "topic"  # abstracts what the student keeps coming back to


class MemoryKind(StrEnum):
    """What a memory speaks of: traits and concepts are beliefs, episodes observations."""

    TRAIT = "trait"
    CONCEPT = "concept"
    EPISODE = "episode"


class EdgeType(StrEnum):
    """How two nodes hang together; the values are relationship types."""

    PRECEDES = "PRECEDES"
    CAUSES = "CAUSES"
    ENABLES = "ENABLES"
    RELATES_TO = "RELATES_TO"
    CONTRADICTS = "CONTRADICTS"
    SUPPORTS = "SUPPORTS"
    REFINES = "REFINES"
    ABSTRACTS = "ABSTRACTS"
    EVOKES = "EVOKES"
    REMINDS_OF = "REMINDS_OF"
    INVOLVES = "INVOLVES"
    ABOUT = "ABOUT"
    LOCATED_AT = "LOCATED_AT"
    TEMPORAL_EVOLUTION = "TEMPORAL_EVOLUTION"


class Reliability(StrEnum):
    """How far a memory can be relied on (spec 12)."""

    RELIABLE = "reliable"
    UNCERTAIN = "uncertain"
    CONTRADICTED = "contradicted"
    SUPERSEDED = "superseded"


class SourceKind(StrEnum):
    """Where something remembered came from (spec 7)."""

    CHAT = "chat"
    LESSON = "lesson"
    PROMPT_RUN = "prompt_run"
    TEACHER = "teacher"
    SYSTEM = "system"


class LedgerCategory(StrEnum):
    """What a ledger entry is."""

    PROMISE = "promise"
    SECRET = "secret"  # noqa: S105
    DEBT = "debt"
    THREAT = "threat"
    FACT = "fact"
    INSTRUCTION = "instruction"
    OBSERVATION = "observation"


class Strategy(StrEnum):
    """What a surprise suggests to do."""

    NONE = "none"
    DEEP_EXTRACTION = "deep_extraction"
    CONNECT_PRIOR = "connect_prior"
    ASK_FOLLOW_UP_QUESTIONS = "ask_follow_up_questions"
    SELF_REFLECT = "self_reflect"


class QuestionState(StrEnum):
    """Where a question to the student stands (spec 5)."""

    WAITING = "waiting"
    ASKED = "asked"
    ANSWERED = "answered"


class Verdict(StrEnum):
    """What somebody says of a surprise afterwards (spec 5)."""

    WAS_IMPORTANT = "was_important"
    WAS_NOT_IMPORTANT = "was_not_important"


class UncertaintyType(StrEnum):
    """Why something is not sure (spec 12)."""

    CONTRADICTION = "contradiction"
    UNVERIFIED = "unverified"
    STALE = "stale"
    AMBIGUOUS = "ambiguous"


class Severity(StrEnum):
    """How much an uncertainty matters, lowest first (spec 12)."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class DetectionContext(StrEnum):
    """When an uncertainty was noticed (spec 12)."""

    INGESTION = "ingestion"
    DRIFT = "drift"
    PRE_ACTION = "pre_action"
    CONSOLIDATION = "consolidation"


class UncertaintyState(StrEnum):
    """Where an uncertainty stands (spec 12)."""

    OPEN = "open"
    SURFACED = "surfaced"
    RESOLVED = "resolved"
    DECAYED = "decayed"


class Resolution(StrEnum):
    """How an uncertainty was settled (spec 12)."""

    TEMPORAL_SUPERSEDE = "temporal_supersede"
    EVIDENCE_RESOLVED = "evidence_resolved"
    CONFIDENCE_DOMINANCE = "confidence_dominance"
    USER_CLARIFIED = "user_clarified"
    DECAYED = "decayed"
    NEWER_WINS = "newer_wins"
    STRONGER_WINS = "stronger_wins"
    MANUAL = "manual"


class Domain(StrEnum):
    """What part of a student's life a memory belongs to."""

    SCHOOL = "school"
    PERSONAL = "personal"
    RELATIONSHIPS = "relationships"
    HOBBIES = "hobbies"
    HEALTH = "health"
    OTHER = "other"


class EntityKind(StrEnum):
    """What an entity is."""

    PERSON = "person"
    PLACE = "place"
    THING = "thing"
