"""Enums of the contract, with a description of each value."""

import re
from enum import Enum
from typing import Any

import strawberry

from graphmem import model

VALUES: dict[type[Enum], str] = {
    model.ConcernKind: """
        SELF_HARM hurting oneself, thoughts of death
        ABUSE harm by a carer, a teacher, a coach
        SEXUAL_ABUSE sexual harm, grooming, blackmail with pictures
        VIOLENCE harm or threats by others, weapons, attacks
        THREAT_TO_OTHERS somebody may be harmed by the student or by another
        NEGLECT no food, warmth, medicine or care
        EATING an eating disorder
        SUBSTANCE alcohol, drugs, medicines
        BULLYING severe or lasting bullying
        OTHER_DANGER running away, forced marriage, stalking, dares, accidents""",
    model.PracticeOutcome: """
        AGAIN it was not recalled
        HARD with trouble
        GOOD well
        EASY without effort""",
    model.CompressionTrigger: """
        SESSION_END at the end of a session, above the limit
        NODE_LIMIT as soon as there are more memories than the limit
        MANUAL somebody asked for it""",
    model.DetectionContext: """
        INGESTION when a memory was formed
        DRIFT when memories faded
        PRE_ACTION before the companion acted on memories
        CONSOLIDATION at the end of a session""",
    model.Aspect: """
        PLAN what the student means to do, or is to come
        FEELING how the student feels
        MISCONCEPTION what the student gets wrong of a subject
        UNDERSTANDING what the student has come to understand""",
    model.Domain: """
        SCHOOL learning, lessons, marks
        PERSONAL the student's own character and days
        RELATIONSHIPS family and friends
        HOBBIES what the student likes to do
        HEALTH body and mind
        OTHER anything else""",
    model.MemoryRole: """
        SAID said by the student, or noted by others
        EPISODE the beginning of a matter, which gathers what is said while it lasts
        LESSON work on an exercise, with the words of the lesson, which it is found by
        BELIEF taken up after a surprise
        PROCEDURE how the companion goes about such a situation
        SUMMARY stands for memories that a compression merged
        TOPIC of older versions: what the student kept coming back to""",
    model.EdgeType: """
        PRECEDES the first came before the second
        CAUSES the first brought about the second
        ENABLES the first makes the second possible
        RELATES_TO both are alike
        CONTRADICTS both cannot hold
        SUPPORTS the first speaks for the second
        REFINES the second says more exactly what the first said
        ABSTRACTS the first gathers the second
        EVOKES the first calls up the feeling of the second
        REMINDS_OF the first brings the second to mind
        INVOLVES the memory speaks of this person
        ABOUT the memory speaks of this thing or concept
        LOCATED_AT the memory is set in this place
        TEMPORAL_EVOLUTION the first held earlier, the second holds now""",
    model.EntityKind: """
        PERSON somebody
        PLACE somewhere
        THING something else with a name""",
    model.JobState: """
        WAITING to be run, or for the student's session
        RUNNING held by a process
        DONE finished
        DEAD failed five times; retryJob starts it again""",
    model.LedgerCategory: """
        PROMISE what was promised
        SECRET what is not to be told on
        DEBT what is owed
        THREAT what endangers the student
        FACT what must be known
        INSTRUCTION what to do always; comes up each time
        OBSERVATION what was noticed""",
    model.Level: """
        NORMAL nothing surprising: signal below 0.65
        BOUNDARY another episode begins: signal from 0.65
        COGNITIVE_DISSONANCE beliefs do not fit: signal from 0.85
        PARADIGM_SHIFT much has to be seen anew: signal from 0.90""",
    model.MemoryKind: """
        TRAIT what the student is like
        CONCEPT what is known or believed
        EPISODE what happened""",
    model.Modality: """
        EPISODIC something that happened
        SEMANTIC something known
        PROCEDURAL how something is done
        EMOTIONAL a feeling
        SENSORY something seen, heard, smelt, tasted or felt""",
    model.QuestionState: """
        WAITING not asked yet
        ASKED asked in a reply
        ANSWERED answered by the student""",
    model.Reliability: """
        RELIABLE nothing speaks against it
        UNCERTAIN in doubt
        CONTRADICTED another memory says otherwise
        SUPERSEDED a newer memory holds instead""",
    model.Resolution: """
        TEMPORAL_SUPERSEDE both held, one after the other
        EVIDENCE_RESOLVED by further evidence
        CONFIDENCE_DOMINANCE the surer one holds
        USER_CLARIFIED the student said so
        DECAYED what was in doubt has faded
        NEWER_WINS the newer one holds
        STRONGER_WINS the stronger one holds
        MANUAL by a person""",
    model.Severity: """
        LOW may be left alone
        MEDIUM to be cleared up when the matter comes up
        HIGH to be cleared up before it is relied on
        CRITICAL to be cleared up at once""",
    model.SourceKind: """
        CHAT the student's own message, or what others said in a conversation
        LESSON a lesson
        PROMPT_RUN a run of a prompt by the app
        TEACHER a teacher's remark
        SYSTEM another system""",
    model.Strategy: """
        NONE nothing
        DEEP_EXTRACTION read the message more closely
        CONNECT_PRIOR connect it with what was known
        ASK_FOLLOW_UP_QUESTIONS ask the student
        SELF_REFLECT draw a lesson for the companion""",
    model.UncertaintyState: """
        OPEN not raised yet
        SURFACED raised
        RESOLVED settled
        DECAYED what was in doubt has faded""",
    model.UncertaintyType: """
        CONTRADICTION two memories cannot both hold
        UNVERIFIED nothing confirms it
        STALE it may have changed since
        AMBIGUOUS it can be read in several ways""",
    model.Verdict: """
        WAS_IMPORTANT it deserved its level, or a higher one
        WAS_NOT_IMPORTANT it deserved none""",
}


def register_enums() -> None:
    """Make every enum one of the schema, with the descriptions; a second call changes nothing."""
    for enum, lines in VALUES.items():
        if "__strawberry_definition__" in vars(enum):
            continue
        texts = dict(line.strip().split(" ", 1) for line in lines.strip().split("\n"))
        strawberry.enum(enum, name="SurpriseLevel" if enum is model.Level else None, description=plain_value(enum))
        definition: Any = enum.__strawberry_definition__  # type: ignore[attr-defined]
        for value in definition.values:
            value.description = texts[value.name][0].upper() + texts[value.name][1:] + "."


def plain_value(described: type) -> str:
    """The docstring of a class on one line, without sections of the specification.

    Examples
    --------
    >>> plain_value(model.Verdict)
    'Verdict on a surprise, given afterwards.'
    """
    return re.sub(r" \(spec [\d., ]+\)", "", " ".join((described.__doc__ or "").split()))
