"""Importance of a message, the reasons for it, and the threshold to be kept (spec 6)."""

from dataclasses import astuple, dataclass, fields

import numpy as np
from numpy.typing import NDArray

from graphmem.maths.chances import softmax
from graphmem.model import Attention

BUSY = 10.0
"""Messages a minute at which a conversation is as hot as it gets."""


@dataclass(frozen=True)
class Features:
    """Features that make a message important, each in [0, 1] (spec 6).

    mentioned : the companion or a known entity is addressed
    recency : exp(-age / 5 min)
    heat : how busy the conversation is
    expertise : overlap with the companion's expertise and the concepts in work
    novelty : distance in meaning to the messages before
    emotion : strength of feeling
    """

    mentioned: float
    recency: float
    heat: float
    expertise: float
    novelty: float
    emotion: float


FEATURE_WEIGHTS = Features(mentioned=3.0, recency=1.5, heat=1.0, expertise=0.8, novelty=2.0, emotion=1.5)


def temperature(activity: float) -> float:
    """2.0 above an activity of 0.7 (attention spreads), else 0.5 (the strongest feature decides)."""
    return 2.0 if activity > 0.7 else 0.5


def importance(features: Features, temperature: float) -> float:
    """Smooth maximum of the weighted features, scaled to its greatest value.

    Parameters
    ----------
    features : Features, each in [0, 1]
    temperature : float > 0

    Returns
    -------
    float in [0, 1]; 1 when every feature is 1; never falls when a feature rises

    Notes
    -----
    LME(x; T) = T ln(mean(exp(x / T))), and the score is (LME(w f; T) / LME(w; T)) ** 0.6.

    Source: spec 6.

    Examples
    --------
    >>> round(importance(Features(1, 1, 1, 1, 1, 1), temperature=0.5), 6)
    1.0
    >>> importance(Features(0, 0, 0, 0, 0, 0), temperature=0.5)
    0.0
    """
    weights = np.array(astuple(FEATURE_WEIGHTS))
    values = np.array(astuple(features))
    share = _log_mean_exp(weights * values, temperature) / _log_mean_exp(weights, temperature)
    return float(min(1.0, max(0.0, share)) ** 0.6)


def attention(features: Features, temperature: float) -> tuple[Attention, ...]:
    """Which features made a message important: softmax of the weighted features, the score's gradient.

    Examples
    --------
    >>> parts = attention(Features(1, 0, 0, 0, 0, 0), temperature=0.5)
    >>> parts[0].feature, round(sum(p.weight for p in parts), 6)
    ('mentioned', 1.0)
    """
    values = astuple(features)
    scaled = np.array(astuple(FEATURE_WEIGHTS)) * np.array(values) / temperature
    weights = softmax(scaled)
    return tuple(
        Attention(f.name, float(v), float(w)) for f, v, w in zip(fields(features), values, weights, strict=True)
    )


def activity(messages_per_minute: float) -> float:
    """Heat of a conversation in [0, 1], from messages a minute over ten minutes.

    Examples
    --------
    >>> activity(5.0), activity(30.0)
    (0.5, 1.0)
    """
    return min(1.0, messages_per_minute / BUSY)


def threshold(messages_per_minute: float) -> float:
    """Threshold that a message's final score must reach to be consolidated: higher in busy times.

    Parameters
    ----------
    messages_per_minute : float >= 0, averaged over a 10-minute window

    Returns
    -------
    float in (0.3, 0.8)

    Source: spec 6.

    Examples
    --------
    >>> [round(threshold(x), 3) for x in (0.5, 2, 5, 10)]
    [0.348, 0.391, 0.55, 0.762]
    """
    return float(0.3 + 0.5 / (1.0 + np.exp(-0.5 * (messages_per_minute - 5.0))))


def final(importance: float, surprise: float) -> float:
    """Return importance * (1 + surprise), uncapped: the score compared with the threshold (spec 6)."""
    return importance * (1.0 + surprise)


def _log_mean_exp(x: NDArray[np.float64], temperature: float) -> float:
    top = x.max()
    return float(top + temperature * np.log(np.mean(np.exp((x - top) / temperature))))
