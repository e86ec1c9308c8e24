"""Replies to a message that tells of danger, by rule (spec 20)."""

from collections.abc import Sequence

from graphmem.model import ACUTE, Danger

_HEARD = (
    "Thank you for telling me. I take it very seriously, and it was right to say it: nobody should have to deal with "
    "something like this alone.",
    "I am glad that you told me. This matters more than any lesson, and it is too much for anybody to carry alone.",
)
"""They fit whoever is in danger of whatever: the detector knows that somebody is far better than who and of what."""
_NOW = "This sounds urgent. Please get to a safe place and to another person now, and do not stay alone."
_HONEST = "I am only a program and cannot keep this between us: a person has to know, so that you get help."


def caring_reply(danger: Danger, help_text: str, said: Sequence[str] = ()) -> str:
    """A reply that takes a danger seriously, promises nothing, asks nothing, and holds the help text word for word.

    Parameters
    ----------
    danger : Danger
    help_text : str, as the institution has set it
    said : the companion's last replies, which are not repeated while another wording is left

    Source: spec 20.

    Examples
    --------
    >>> from graphmem.model import ConcernKind
    >>> reply = caring_reply(Danger(ConcernKind.EATING, 1), "Talk to Ms Lee.")
    >>> "Talk to Ms Lee." in reply, "?" in reply
    (True, False)
    """
    first = next((each for each in _HEARD if not any(each in reply for reply in said)), _HEARD[0])
    urgent = (_NOW,) if danger.urgency >= ACUTE else ()
    return " ".join((first, *urgent, help_text, _HONEST))
