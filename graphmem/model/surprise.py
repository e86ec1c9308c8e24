"""Responses to surprises, as frozen values without behaviour (spec 5)."""

from dataclasses import dataclass, field

from graphmem.model.enums import Level, Strategy


@dataclass(frozen=True)
class SurpriseAction:
    """Something that was done about a surprise."""

    kind: str
    """`start_episode`, `extract_facts`, `update_beliefs`, `flashbulb`, `connect_prior`, `queue_questions` or
    `self_reflect`."""
    fact_count: int | None = None
    """Facts that were learned, 0 to 30."""
    episode_ids: tuple[str, ...] = ()
    """Ids of the episodes concerned."""
    questions: tuple[str, ...] = ()
    """Questions to the student."""
    reflection: str | None = None
    """Lesson for the companion itself."""


@dataclass(frozen=True)
class Revision:
    """Revision of a belief by a surprise: the prior and the new one, with the ids of their memories."""

    prior_id: str | None
    """Id of the memory that no longer holds, if there is one."""
    new_id: str
    """Id of the memory that holds now."""
    prior_assumption: str = field(repr=False)
    """What was believed."""
    new_understanding: str = field(repr=False)
    """What is so now."""
    confidence_delta: float
    """Confidence of the new belief minus that of the old one, -1 to 1."""


@dataclass(frozen=True)
class SurpriseResponse:
    """All that a surprise led to; kept sealed on its episode (spec 5)."""

    level: Level
    """Level of the surprise when it was analysed."""
    signal: float
    """Surprise signal, 0 to 1."""
    explanation: str = field(repr=False)
    """Which prediction failed, and why."""
    strategy: Strategy
    """What the surprise suggests to do."""
    revisions: tuple[Revision, ...] = ()
    """Beliefs that changed."""
    actions: tuple[SurpriseAction, ...] = ()
    """What was done."""
    offline: bool = False
    """Whether the offline mind analysed it."""
