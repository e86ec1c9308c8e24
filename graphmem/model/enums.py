"""Closed lists of words, the same in Python, Cypher and GraphQL (spec 1).

Docstrings of those in an answer's schema reach language models, so they cite no section: modality, memory kind, domain
and entity kind are of spec 1 and 2, edge types of 2, ledger categories of 8, strategies of 5.
"""

from enum import StrEnum
from typing import Self


class Word(StrEnum):
    """Enum whose members have a sentence beside their value, which the API's schema shows."""

    description: str

    def __new__(cls, value: str, description: str = "") -> Self:
        member = str.__new__(cls, value)
        member._value_, member.description = value, description
        return member


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


class Level(Word):
    """Levels of surprise, lowest first (spec 5)."""

    NORMAL = "normal", "Nothing surprising: signal below 0.65."
    BOUNDARY = "boundary", "Another episode begins: signal from 0.65."
    COGNITIVE_DISSONANCE = "cognitive_dissonance", "Beliefs do not fit: signal from 0.85."
    PARADIGM_SHIFT = "paradigm_shift", "Much has to be seen anew: signal from 0.90."


class TurnState(StrEnum):
    """Stored before the reply is known, complete, or altered by hand so that it does not open (spec 3)."""

    RECEIVED = "received"
    ANSWERED = "answered"
    TAMPERED = "tampered"


class JobState(Word):
    """State of a background job (spec 16)."""

    WAITING = "waiting", "To be run, or for the student's session."
    RUNNING = "running", "Held by a process."
    DONE = "done", "Finished."
    DEAD = "dead", "Failed five times; retryJob starts it again."


class Modality(Word):
    """In what way something is remembered."""

    EPISODIC = "episodic", "Something that happened."
    SEMANTIC = "semantic", "Something known."
    PROCEDURAL = "procedural", "How something is done."
    EMOTIONAL = "emotional", "A feeling."
    SENSORY = "sensory", "Something seen, heard, smelt, tasted or felt."


class MemoryRole(Word):
    """Role of a memory among the others: said once, or made of what was said (spec 2, 5, 7)."""

    SAID = "said", "Said by the student, or noted by others."
    EPISODE = "episode", "The beginning of a matter, which gathers what is said while it lasts."
    LESSON = "lesson", "Work on an exercise, with the words of the lesson, which it is found by."
    BELIEF = "belief", "Taken up after a surprise."
    PROCEDURE = "procedure", "How the companion goes about such a situation."
    SUMMARY = "summary", "Stands for memories that a compression merged."
    TOPIC = "topic", "Of older versions: what the student kept coming back to."


OF_A_SITTING = frozenset({MemoryRole.EPISODE, MemoryRole.LESSON})
"""Roles of memories that stand for a part of a sitting: what was told in it has memories of its own."""


class MemoryKind(Word):
    """Kind of a memory: traits and concepts are beliefs, episodes observations."""

    TRAIT = "trait", "What the student is like."
    CONCEPT = "concept", "What is known or believed."
    EPISODE = "episode", "What happened."


class Aspect(Word):
    """What else a memory tells beside its kind."""

    PLAN = "plan", "What the student means to do, or is to come."
    FEELING = "feeling", "How the student feels."
    MISCONCEPTION = "misconception", "What the student gets wrong of a subject."
    UNDERSTANDING = "understanding", "What the student has come to understand."


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


class EdgeType(Word):
    """Type of an edge between two nodes; the values are relationship types."""

    PRECEDES = "PRECEDES", "The first came before the second."
    CAUSES = "CAUSES", "The first brought about the second."
    ENABLES = "ENABLES", "The first makes the second possible."
    RELATES_TO = "RELATES_TO", "Both are alike."
    CONTRADICTS = "CONTRADICTS", "Both cannot hold."
    SUPPORTS = "SUPPORTS", "The first speaks for the second."
    REFINES = "REFINES", "The second says more exactly what the first said."
    ABSTRACTS = "ABSTRACTS", "The first gathers the second."
    EVOKES = "EVOKES", "The first calls up the feeling of the second."
    REMINDS_OF = "REMINDS_OF", "The first brings the second to mind."
    INVOLVES = "INVOLVES", "The memory speaks of this person."
    ABOUT = "ABOUT", "The memory speaks of this thing or concept."
    LOCATED_AT = "LOCATED_AT", "The memory is set in this place."
    TEMPORAL_EVOLUTION = "TEMPORAL_EVOLUTION", "The first held earlier, the second holds now."


class Reliability(Word):
    """Reliability of a memory (spec 12)."""

    RELIABLE = "reliable", "Nothing speaks against it."
    UNCERTAIN = "uncertain", "In doubt."
    CONTRADICTED = "contradicted", "Another memory says otherwise."
    SUPERSEDED = "superseded", "A newer memory holds instead."


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


class SourceKind(Word):
    """Kind of source of something remembered (spec 7)."""

    CHAT = "chat", "The student's own message, or what others said in a conversation."
    LESSON = "lesson", "A lesson."
    PROMPT_RUN = "prompt_run", "A run of a prompt by the app."
    TEACHER = "teacher", "A teacher's remark."
    SYSTEM = "system", "Another system."


class LedgerCategory(Word):
    """Category of a ledger entry."""

    PROMISE = "promise", "What was promised."
    SECRET = "secret", "What is not to be told on."
    DEBT = "debt", "What is owed."
    THREAT = "threat", "What endangers the student."
    FACT = "fact", "What must be known."
    INSTRUCTION = "instruction", "What to do always; comes up each time."
    OBSERVATION = "observation", "What was noticed."


class Effect(Word):
    """Effect of a new statement, or of a note, on something known or on another note (spec 7)."""

    SAME = "same", "It says the same."
    REFINES = "refines", "It says more of it."
    ENDS = "ends", "That holds no longer."
    CORRECTS = "corrects", "That was wrong."
    OUTDATES = "outdates", "A part of that holds no longer."
    CONTRADICTS = "contradicts", "Both cannot be so."
    SETTLES = "settles", "A promise, debt or secret that is over."


class Scope(Word):
    """Matter of an instruction; the student's own bind in all but `other`."""

    STYLE = "style", "How the tutor speaks."
    PACE = "pace", "How fast it goes on, and what comes first."
    CONTENT = "content", "What to speak of, or not."
    NAME = "name", "How to call the student."
    OTHER = "other", "Rules, duties, marks and all else."


class ConcernKind(Word):
    """Kind of danger that a message tells of (spec 20)."""

    SELF_HARM = "self_harm", "Hurting oneself, thoughts of death."
    ABUSE = "abuse", "Harm by a carer, a teacher, a coach."
    SEXUAL_ABUSE = "sexual_abuse", "Sexual harm, grooming, blackmail with pictures."
    VIOLENCE = "violence", "Harm or threats by others, weapons, attacks."
    THREAT_TO_OTHERS = "threat_to_others", "Somebody may be harmed by the student or by another."
    NEGLECT = "neglect", "No food, warmth, medicine or care."
    EATING = "eating", "An eating disorder."
    SUBSTANCE = "substance", "Alcohol, drugs, medicines."
    BULLYING = "bullying", "Severe or lasting bullying."
    OTHER_DANGER = "other_danger", "Running away, forced marriage, stalking, dares, accidents."


class AboutWhom(StrEnum):
    """Whom a danger concerns (spec 20)."""

    SELF = "self"
    OTHER = "other"


class Strategy(Word):
    """Strategy that a surprise suggests."""

    NONE = "none", "Nothing."
    DEEP_EXTRACTION = "deep_extraction", "Read the message more closely."
    CONNECT_PRIOR = "connect_prior", "Connect it with what was known."
    ASK_FOLLOW_UP_QUESTIONS = "ask_follow_up_questions", "Ask the student."
    SELF_REFLECT = "self_reflect", "Draw a lesson for the companion."


class QuestionState(Word):
    """State of a question to the student (spec 5)."""

    WAITING = "waiting", "Not asked yet."
    ASKED = "asked", "Asked in a reply."
    ANSWERED = "answered", "Answered by the student."


class Verdict(Word):
    """Verdict on a surprise, given afterwards (spec 5)."""

    WAS_IMPORTANT = "was_important", "It deserved its level, or a higher one."
    WAS_NOT_IMPORTANT = "was_not_important", "It deserved none."


class UncertaintyType(Word):
    """Why something is not sure (spec 12)."""

    CONTRADICTION = "contradiction", "Two memories cannot both hold."
    UNVERIFIED = "unverified", "Nothing confirms it."
    STALE = "stale", "It may have changed since."
    AMBIGUOUS = "ambiguous", "It can be read in several ways."


class Severity(Word):
    """Severity of an uncertainty, lowest first (spec 12)."""

    LOW = "low", "May be left alone."
    MEDIUM = "medium", "To be cleared up when the matter comes up."
    HIGH = "high", "To be cleared up before it is relied on."
    CRITICAL = "critical", "To be cleared up at once."


class DetectionContext(Word):
    """Context in which an uncertainty was detected (spec 12)."""

    INGESTION = "ingestion", "When a memory was formed."
    DRIFT = "drift", "When memories faded."
    PRE_ACTION = "pre_action", "Before the companion acted on memories."
    CONSOLIDATION = "consolidation", "At the end of a session."


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


class UncertaintyState(Word):
    """State of an uncertainty (spec 12)."""

    OPEN = "open", "Not raised yet."
    SURFACED = "surfaced", "Raised."
    RESOLVED = "resolved", "Settled."
    DECAYED = "decayed", "What was in doubt has faded."


class Resolution(Word):
    """Resolution of an uncertainty (spec 12)."""

    TEMPORAL_SUPERSEDE = "temporal_supersede", "Both held, one after the other."
    EVIDENCE_RESOLVED = "evidence_resolved", "By further evidence."
    CONFIDENCE_DOMINANCE = "confidence_dominance", "The surer one holds."
    USER_CLARIFIED = "user_clarified", "The student said so."
    DECAYED = "decayed", "What was in doubt has faded."
    NEWER_WINS = "newer_wins", "The newer one holds."
    STRONGER_WINS = "stronger_wins", "The stronger one holds."
    MANUAL = "manual", "By a person."


class Domain(Word):
    """Part of a student's life that a memory belongs to."""

    SCHOOL = "school", "Learning, lessons, marks."
    PERSONAL = "personal", "The student's own character and days."
    RELATIONSHIPS = "relationships", "Family and friends."
    HOBBIES = "hobbies", "What the student likes to do."
    HEALTH = "health", "Body and mind."
    OTHER = "other", "Anything else."


class EntityKind(Word):
    """Kind of an entity."""

    PERSON = "person", "Somebody."
    PLACE = "place", "Somewhere."
    THING = "thing", "Something else with a name."


class CompressionTrigger(Word):
    """Why memories are compressed."""

    SESSION_END = "session_end", "At the end of a session, above the limit."
    NODE_LIMIT = "node_limit", "As soon as there are more memories than the limit."
    MANUAL = "manual", "Somebody asked for it."
