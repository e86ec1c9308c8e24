"""Closed lists of words, the same in Python, Cypher and GraphQL (spec 1).

Docstrings of those in an answer's schema reach language models, so they cite no section: modality, memory kind, domain
and entity kind are of spec 1 and 2, edge types of 2, ledger categories of 8, strategies of 5.
"""

from enum import StrEnum


class Role(StrEnum):
    """Role of an API caller (spec 15)."""

    APP = "app"
    TEACHER = "teacher"
    AUDITOR = "auditor"
    ANALYST = "analyst"
    ADMIN = "admin"


class Author(StrEnum):
    """Author of a message."""

    STUDENT = "student"
    COMPANION = "companion"


class Level(StrEnum):
    """Levels of surprise, lowest first (spec 5)."""

    NORMAL = "normal"
    BOUNDARY = "boundary"
    COGNITIVE_DISSONANCE = "cognitive_dissonance"
    PARADIGM_SHIFT = "paradigm_shift"


class TurnState(StrEnum):
    """Placement before the reply is known, complete, or altered by hand so that it does not open (spec 3)."""

    RECEIVED = "received"
    ANSWERED = "answered"
    TAMPERED = "tampered"


class JobState(StrEnum):
    """State of a background job (spec 16)."""

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
    """Role of a memory among the others: said once, or made of what was said (spec 2, 5, 7)."""

    SAID = "said"
    EPISODE = "episode"  # of a surprise; abstracts what is said while it is under way
    LESSON = "lesson"  # work on an exercise; grows while it goes on
    BELIEF = "belief"  # taken up after a surprise
    PROCEDURE = "procedure"  # how the companion goes about such a situation
    SUMMARY = "summary"  # stands for memories that a compression merged
    TOPIC = "topic"  # of older versions: what the student keeps coming back to


OF_A_SITTING = frozenset({MemoryRole.EPISODE, MemoryRole.LESSON})
"""Roles of memories that stand for a part of a sitting: what was told in it has memories of its own."""


class MemoryKind(StrEnum):
    """Kind of a memory: traits and concepts are beliefs, episodes observations."""

    TRAIT = "trait"
    CONCEPT = "concept"
    EPISODE = "episode"


class Aspect(StrEnum):
    """What else a memory tells beside its kind."""

    PLAN = "plan"
    FEELING = "feeling"
    MISCONCEPTION = "misconception"
    UNDERSTANDING = "understanding"


SHOWN_AT_WORK = frozenset({Aspect.MISCONCEPTION, Aspect.UNDERSTANDING})
"""What nobody says of themselves: their work shows it."""


class AskedFor(StrEnum):
    """Subject of a question: something else, one thing about the student, all of it, how work goes, last time."""

    OTHER = "other"
    OWN = "own"
    OVERVIEW = "overview"
    STRUGGLES = "struggles"
    STRENGTHS = "strengths"
    LAST_TIME = "last_time"


class EdgeType(StrEnum):
    """Type of an edge between two nodes; the values are relationship types."""

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
    """Reliability of a memory (spec 12)."""

    RELIABLE = "reliable"
    UNCERTAIN = "uncertain"
    CONTRADICTED = "contradicted"
    SUPERSEDED = "superseded"


class MemoryEventKind(StrEnum):
    """What happened to a memory (spec 18)."""

    FORMED = "formed"
    REINFORCED = "reinforced"
    SUPERSEDED = "superseded"
    DOUBTED = "doubted"
    FLASHBULB = "flashbulb"
    COMPRESSED = "compressed"
    FORGOTTEN = "forgotten"
    CONCERN = "concern"


class SourceKind(StrEnum):
    """Kind of source of something remembered (spec 7)."""

    CHAT = "chat"
    LESSON = "lesson"
    PROMPT_RUN = "prompt_run"
    TEACHER = "teacher"
    SYSTEM = "system"


class LedgerCategory(StrEnum):
    """Category of a ledger entry."""

    PROMISE = "promise"
    SECRET = "secret"  # noqa: S105
    DEBT = "debt"
    THREAT = "threat"
    FACT = "fact"
    INSTRUCTION = "instruction"
    OBSERVATION = "observation"


class ConcernKind(StrEnum):
    """Kind of danger that a message tells of (spec 20)."""

    SELF_HARM = "self_harm"
    ABUSE = "abuse"
    SEXUAL_ABUSE = "sexual_abuse"
    VIOLENCE = "violence"
    THREAT_TO_OTHERS = "threat_to_others"
    NEGLECT = "neglect"
    EATING = "eating"
    SUBSTANCE = "substance"
    BULLYING = "bullying"
    OTHER_DANGER = "other_danger"


class AboutWhom(StrEnum):
    """Whom a danger concerns (spec 20)."""

    SELF = "self"
    OTHER = "other"


class Strategy(StrEnum):
    """Strategy that a surprise suggests."""

    NONE = "none"
    DEEP_EXTRACTION = "deep_extraction"
    CONNECT_PRIOR = "connect_prior"
    ASK_FOLLOW_UP_QUESTIONS = "ask_follow_up_questions"
    SELF_REFLECT = "self_reflect"


class QuestionState(StrEnum):
    """State of a question to the student (spec 5)."""

    WAITING = "waiting"
    ASKED = "asked"
    ANSWERED = "answered"


class Verdict(StrEnum):
    """Verdict on a surprise, given afterwards (spec 5)."""

    WAS_IMPORTANT = "was_important"
    WAS_NOT_IMPORTANT = "was_not_important"


class UncertaintyType(StrEnum):
    """Why something is not sure (spec 12)."""

    CONTRADICTION = "contradiction"
    UNVERIFIED = "unverified"
    STALE = "stale"
    AMBIGUOUS = "ambiguous"


class Severity(StrEnum):
    """Severity of an uncertainty, lowest first (spec 12)."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class DetectionContext(StrEnum):
    """Context in which an uncertainty was detected (spec 12)."""

    INGESTION = "ingestion"
    DRIFT = "drift"
    PRE_ACTION = "pre_action"
    CONSOLIDATION = "consolidation"


class PairClass(StrEnum):
    """How two statements of one student stand to each other (spec 12)."""

    COMPATIBLE = "compatible"
    TRUE_CONTRADICTION = "true_contradiction"
    TEMPORAL_CHANGE = "temporal_change"
    FIGURATIVE = "figurative"
    CONTEXT_DEPENDENT = "context_dependent"

    @property
    def clashes(self) -> bool:
        """True if two such statements cannot both be so at one time."""
        return self in (PairClass.TRUE_CONTRADICTION, PairClass.TEMPORAL_CHANGE)


class UncertaintyState(StrEnum):
    """State of an uncertainty (spec 12)."""

    OPEN = "open"
    SURFACED = "surfaced"
    RESOLVED = "resolved"
    DECAYED = "decayed"


class Resolution(StrEnum):
    """Resolution of an uncertainty (spec 12)."""

    TEMPORAL_SUPERSEDE = "temporal_supersede"
    EVIDENCE_RESOLVED = "evidence_resolved"
    CONFIDENCE_DOMINANCE = "confidence_dominance"
    USER_CLARIFIED = "user_clarified"
    DECAYED = "decayed"
    NEWER_WINS = "newer_wins"
    STRONGER_WINS = "stronger_wins"
    MANUAL = "manual"


class Domain(StrEnum):
    """Part of a student's life that a memory belongs to."""

    SCHOOL = "school"
    PERSONAL = "personal"
    RELATIONSHIPS = "relationships"
    HOBBIES = "hobbies"
    HEALTH = "health"
    OTHER = "other"


class EntityKind(StrEnum):
    """Kind of an entity."""

    PERSON = "person"
    PLACE = "place"
    THING = "thing"


class CompressionTrigger(StrEnum):
    """Why memories are compressed."""

    SESSION_END = "session_end"
    NODE_LIMIT = "node_limit"
    MANUAL = "manual"
