"""Salience of a memory: its information first, how important it was second (spec 6)."""

import math

INFORMATION = 0.9
"""Weight of information; the rest is importance."""
ASKED_SHARE = 0.75
"""Weight, within information, of the chance that it is asked about; the rest is how much it tells of a person."""
SNR_CEILING = 1000
"""Highest signal-to-noise ratio."""


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
