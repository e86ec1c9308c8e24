"""Replies to a message that tells of danger, by rule (spec 20)."""

from collections.abc import Sequence

from graphmem.model import ACUTE, AboutWhom, ConcernKind, Danger

_OTHER = (
    "Thank you for telling me; it shows that you care. This is too much for you to carry alone, and a grown-up needs "
    "to know.",
    "I am glad you told me. You should not have to look after this by yourself: somebody who can help must hear it.",
)
_MINE = (
    "I take that very seriously, and it was right to say it. Please do nothing now, move away from whatever could "
    "hurt somebody, and talk to a person first.",
    "Thank you for saying it. Nobody has to be hurt: please put some distance between you and them, and talk to "
    "somebody before anything happens.",
)
_HARMED = (
    "I am so sorry that this is happening to you. It is not your fault, and it was right to say it.",
    "Thank you for trusting me with this. Nobody may treat you like that, and it is not your fault.",
)
_SELF = (
    "I am really glad that you told me, and I take it seriously. You matter more than any lesson, and you do not have "
    "to go through this alone.",
    "Thank you for telling me how it is. That sounds very hard to carry, and there are people who can help you.",
)
_NOW = "This sounds urgent. Please get to a safe place and to another person now, and do not stay alone."
_HONEST = "I am only a program and cannot keep this between us: a person has to know, so that you get help."
_DONE_TO = frozenset(
    {
        ConcernKind.ABUSE,
        ConcernKind.SEXUAL_ABUSE,
        ConcernKind.VIOLENCE,
        ConcernKind.NEGLECT,
        ConcernKind.BULLYING,
        ConcernKind.OTHER_DANGER,
    }
)


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
    >>> print(caring_reply(Danger(ConcernKind.EATING, 1), "Talk to Ms Lee."))
    I am really glad that you told me, and I take it seriously. You matter more than any lesson, and you do not have \
to go through this alone. Talk to Ms Lee. I am only a program and cannot keep this between us: a person has to know, \
so that you get help.
    """
    wordings = _wordings(danger)
    first = next((each for each in wordings if not any(each in reply for reply in said)), wordings[0])
    urgent = (_NOW,) if danger.urgency >= ACUTE else ()
    return " ".join((first, *urgent, help_text, _HONEST))


def _wordings(danger: Danger) -> tuple[str, ...]:
    if danger.kind is ConcernKind.THREAT_TO_OTHERS and danger.about is AboutWhom.SELF:
        return _MINE
    if danger.about is AboutWhom.OTHER:
        return _OTHER
    return _HARMED if danger.kind in _DONE_TO else _SELF
