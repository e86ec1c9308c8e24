"""Parts of cue phrases (spec 8).

Patterns are written in verbose mode, where a blank that counts is `\\s`. Typed without care: apostrophes may be
missing.
"""

import re
from dataclasses import dataclass

from graphmem.model import LedgerCategory
from graphmem.text import lexicon


@dataclass(frozen=True)
class Cue:
    """Cue pattern of a category: `says` together with `also`, and nothing of `unless`, in one sentence.

    `noted` cues are believed only of what a teacher or the system wrote.
    """

    category: LedgerCategory
    says: re.Pattern[str]
    also: re.Pattern[str] | None
    unless: re.Pattern[str] | None
    noted: bool


def cue(category: LedgerCategory, says: str, also: str = "", unless: str = "", noted: bool = False) -> Cue:
    """A cue of patterns in verbose mode, each from the beginning of a word, or from a sign."""

    def compiled(pattern: str) -> re.Pattern[str]:
        return re.compile(rf"(?:(?<!\w)|(?!\w))(?:{pattern})", re.I | re.X)

    more, but = (compiled(p) if p else None for p in (also, unless))
    return Cue(category, compiled(says), more, but, noted)


# Building blocks. Written in verbose mode: a blank that counts is \s. Typed without care: apostrophes may be missing.
ME = r"(?:i|i'?m|i'?ve|i'?d|i'?ll|me|my|mine|we|us|our)\b"
_RELATIVES = "|".join(sorted(lexicon.KIN, key=len, reverse=True))
KIN_PATTERN = rf"(?:step)?-?(?:{_RELATIVES}|parent|sis)s?"
# Not what sentences open with.
NAME = r"""(?-i:(?!(?:There|This|That|These|Those|It|We|You|Your|Our|What|When|Where|If|The|And|But|So|Or|Let|Keep
    |Stay
    |Take|Please|Yeah|Yes|No|My|In|At|On|Not|Now|How|Why|Who|For|To|As|Is|Are|Do|Did|Can|Then|Just|Maybe|Oh|Ok|Okay
    |Sometimes|Everyone|Everything|Nothing|Some|All|Most|Well|Since|Because|After|Before|While)\b)[A-Z][a-z]+)"""
PERSON = rf"""(?:he|she|they|{NAME}|(?:my|our|the|a|her|his)\s(?:\w+\s)?(?:{KIN_PATTERN}|friend|teacher|coach|tutor
    |neighbou?r|student|boss|class|students|kids|learners|girl|boy))"""
DAY = f"(?:{'|'.join(lexicon.WEEKDAYS)})"
SOON = rf"(?:by|before|until)\s(?:{DAY}|tomorrow|tonight|next|the\s(?:end|weekend|exam|test)|then|\d)"
FICTION = r"""(?:in|of|from|says?)\s(?:the|my|our|this|that|a)\s(?:\w+\s)?(?:story|book|film|movie|novel|chapter
    |scene|play|poem|game|series|show|manga|anime|song|level)
    |says\sthe\s(?:book|text)|(?:act|scene|chapter|episode|season)\s(?:\d+|one|two|three|four|five|six|i+\b)|macbeth
    |juliet|hamlet|hunger\sgames|harry\spotter
    |minecraft|fortnite|roblox|zelda|mario|pokemon|call\sof\sduty|gta\b|valorant|character|zombies?|dragons?
    |monsters?|boss\sfight|pirates?|villain|knight|vampire|wizard"""
PLAY = r"""(?:chess|checkers|cards|uno|tennis|football|soccer|basketball|volleyball|hockey|ping\spong|fifa|game
    |match|race|level|quiz|kahoot|tournament|finals?|score|record|boss|video)\b"""
_WH = "|".join(sorted(lexicon.INTERROGATIVES))
ASKS_WHY = rf"""(?:^(?:so\s|and\s|but\s)?(?:{_WH}|is|are|does|do|did|should)(?:'?s)?\b
    (?=[^?]*(?:\?|$)))"""

HURTS = r"""(?:hit|beat|punch|kick|slap|chok|strangl|threaten|bull[yi]|abus|harass|stalk|blackmail|molest|shov|hurt
    |rap|attack|stab)"""
HARMED = rf"""(?:me|us|him|her|them|(?:my|our|his|her)\s(?:little\s|big\s|baby\s|best\s|younger\s|older\s)*
    (?:{KIN_PATTERN}|friend))\b"""
WILL = r"""(?:will|'?ll|gonna|going\sto|'d|theyd|hed|shed|would|wants?\sto|about\sto|plan(?:s|ning|ned)?\sto
    |threat\w+\sto|try\sto|tried\sto)"""
SELF = r"(?:my\s?self|him\s?self|her\s?self|them\s?sel(?:f|ves))"


def announced(sign: Cue, sentence: str) -> tuple[int, int] | None:
    """The span of what announces a cue in a sentence; None where something is missing or takes it back."""
    hit = sign.says.search(sentence)
    if hit is None or (sign.also and not sign.also.search(sentence)) or (sign.unless and sign.unless.search(sentence)):
        return None
    return hit.span()
