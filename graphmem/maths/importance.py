"""Importance of a message, the reasons for it, and the threshold to be kept (spec 6)."""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields

import numpy as np
from numpy.typing import NDArray

from graphmem.maths.chances import softmax
from graphmem.model import Attention, Matrix, Vector

BUSY = 10.0
"""Messages a minute at which a conversation is as hot as it gets."""


INFORMATION = 0.9
"""Weight of information; the rest is importance."""
ASKED_SHARE = 0.75
"""Weight, within information, of the chance that it is asked about; the rest is how much it tells of a person."""
SNR_CEILING = 1000
"""Highest signal-to-noise ratio."""
RATE_WINDOW = 600.0
"""Seconds over which messages a minute are averaged."""
RATE_LEAST = 30.0
"""Seconds of a talk that has only begun: a second message after one second is no busy time yet."""
SEGMENT_GAP = 3600.0
"""Seconds between two messages from which on they belong to different sessions."""


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


def salience(final: float | None, snr: int, asked: float | None = None) -> float:
    """Salience, which decides if a memory survives: information blended with importance.

    Parameters
    ----------
    final : float >= 0, importance * (1 + surprise) of its message, capped at 1 here; None for what comes from no
        conversation, such as a lesson or a teacher's note: then information alone decides
    snr : int in 0..1000, of its message, as the encoder sees it
    asked : float in 0..1, the chance that it is asked about later (`graphmem.text.doc`); None: by `snr` alone

    Returns
    -------
    float in [0, 1]; never falls when one of them rises; 1 when all are at their highest

    Notes
    -----
    salience = 0.9 * (0.75 * sqrt(asked) + 0.25 * sqrt(snr / 1000)) + 0.1 * min(1, final). Measured as the gold
    evidence among the best 30 % of the turns of LoCoMo, conversations 1 to 5, on which the weights were chosen: by
    importance alone 33 %, by snr alone, which says what matters to a tutor, 53 %, by the blend 65 %. Where nothing
    surprises and final is importance alone, a weight of 0.1 costs half a point, of 0.3 three, of 0.5 fourteen: so
    importance only decides between messages that tell about as much. The roots spread what is usual over the middle of
    the range.

    Source: spec 6.

    Examples
    --------
    >>> salience(1.4, 1000), salience(None, 250), round(salience(0.5, 250), 6)
    (1.0, 0.5, 0.5)
    >>> salience(1.0, 200) < salience(0.5, 400) < salience(0.5, 400, 0.8)
    True
    """
    information = math.sqrt(min(SNR_CEILING, snr) / SNR_CEILING)
    if asked is not None:
        information = ASKED_SHARE * math.sqrt(asked) + (1 - ASKED_SHARE) * information
    if final is None:
        return information
    return INFORMATION * information + (1 - INFORMATION) * min(1.0, final)


def reconsidered(salience: float, before: float, final: float) -> float:
    """Salience once importance is judged anew, the information being the same.

    Parameters
    ----------
    salience : float in 0..1, as it was
    before, final : floats >= 0, importance * (1 + surprise) that it was made with, and as it is judged now

    Examples
    --------
    >>> round(reconsidered(salience(0.2, 300, 0.5), 0.2, 0.9), 6) == round(salience(0.9, 300, 0.5), 6)
    True
    """
    changed = salience + (1 - INFORMATION) * (min(1.0, final) - min(1.0, before))
    return min(1.0, max(0.0, changed))


def distance(known: Matrix, vector: Vector) -> float:
    """Distance in meaning to the nearest known message, in [0, 1]; 1 when nothing is known.

    Parameters
    ----------
    known : float32 array of shape (n, d), rows of length 1
    vector : float32 array of shape (d,), of length 1

    Examples
    --------
    >>> import numpy as np
    >>> distance(np.eye(3, dtype=np.float32), np.array([0, 1, 0], dtype=np.float32))
    0.0
    """
    if len(known) == 0:
        return 1.0
    return float(min(1.0, max(0.0, 1.0 - np.max(known @ vector))))


def emotion(valence: float, arousal: float) -> float:
    """Strength of feeling: distance from a neutral, calm reading, in [0, 1].

    Parameters
    ----------
    valence : float in [-1, 1]
    arousal : float in [0, 1], 0.5 in the middle

    Notes
    -----
    Readers, and models of them, shy away from extremes: a valence of 0.5 or an arousal of 0.75 counts as full.

    Examples
    --------
    >>> emotion(0.0, 0.5), emotion(-0.25, 0.5), emotion(0.9, 0.9)
    (0.0, 0.5, 1.0)
    """
    return min(1.0, float(np.hypot(2.0 * valence, 4.0 * (arousal - 0.5))))


def recency(age: float) -> float:
    """Return exp(-age / 5 minutes), age in seconds; 1 for a moment that is not in the past.

    Examples
    --------
    >>> recency(0.0), round(recency(300.0), 3)
    (1.0, 0.368)
    """
    return float(np.exp(-max(0.0, age) / 300.0))


def messages_per_minute(times: Sequence[float], now: float) -> float:
    """Messages a minute over the ten minutes up to `now`, or over so much of them as there was a talk.

    A talk of four minutes is averaged over its own length; averaged over ten it would always be a quiet one.

    Parameters
    ----------
    times : seconds, of each message, in any order
    now : seconds

    Examples
    --------
    >>> messages_per_minute([0.0, 590.0, 595.0, 600.0, 601.0], now=601.0)
    0.4
    >>> messages_per_minute([0.0, 30.0, 60.0], now=60.0), messages_per_minute([], now=0.0)
    (3.0, 0.0)
    """
    said = sum(0.0 <= now - t < RATE_WINDOW for t in times)
    talked = now - min(times, default=now)
    return said * 60.0 / min(RATE_WINDOW, max(RATE_LEAST, talked))


def sitting(times: Sequence[float], at: float) -> Sequence[float]:
    """Return the message times of a moment's session: less than an hour passes between two of them.

    Parameters
    ----------
    times : seconds, in order, `at` among them
    at : seconds

    Examples
    --------
    >>> sitting([0.0, 9000.0, 9060.0, 9100.0, 20000.0], at=9060.0)
    [9000.0, 9060.0, 9100.0]
    """
    first, last = bisect_left(times, at), bisect_right(times, at) - 1
    while first > 0 and times[first] - times[first - 1] < SEGMENT_GAP:
        first -= 1
    while last + 1 < len(times) and times[last + 1] - times[last] < SEGMENT_GAP:
        last += 1
    return times[first : last + 1]
