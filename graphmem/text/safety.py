"""Danger to a student or to others: the one detector that reply, ledger, surprise and wellbeing go by (spec 20)."""

import re
from collections.abc import Sequence

from rapidfuzz import fuzz

from graphmem.model import ACUTE, AboutWhom, ConcernKind, Danger, FalseAlarm, LedgerCategory, Vector
from graphmem.text.doc import Doc
from graphmem.text.ledger_cue_parts import FICTION, HARMED, HURTS, NAME, PLAY, SELF, WILL, announced, cue
from graphmem.text.lexicon import is_negation
from graphmem.text.normalize import said, straightened
from graphmem.text.sentences import stripped

SIGN_CHARACTERS = 1_000
"""Longest piece of an endless sentence."""
_LETTER = re.compile(r"[^\W\d_]")

DANGER_SIGNS = (
    cue(
        LedgerCategory.THREAT,
        rf"""(?:hurt|harm|cut|kill|burn|starv)(?:e|s|t?ing)?\s{SELF}|(?:cut|cutting|burn(?:ed|t|ing)?|slit)\s(?:my
        |her|his)\s(?:arms?|wrists?|legs?|thighs?|skin)"""
        rf"""|self-?\s?harm|suicid\w+|(?:end|take|took|taking|ending)\s(?:it\sall|(?:my|her|his|their)\s
        (?:own\s)?life)""",
        unless=rf"""{FICTION}|(?:shaving|paper|cooking|knife\sslip|kitchen|playing|gym|football|bike|skat|running
        |accident|tripp|fell)|squad""",
    ),
    cue(
        LedgerCategory.THREAT,
        r"""(?:don'?t|do\snot|didn'?t|doesn'?t)\swant\sto\s(?:be\salive|live(?!\s(?:in|near|with|at|on|here|there))
        |exist|wake\sup(?!\s(?:early|at|so)))
        |(?:don'?t|do\snot)\swant\sto\s(?:be\shere|go\son)\sany\s?more|wan(?:t|ts|ted|na)\s(?:to\s)?(?:die|be\sdead
        |kill)|wish\s(?:i|he|she)\s(?:was|were|wasn'?t|weren'?t|had\snever\sbeen|could)\s(?:dead|never\sborn|alive
        |born|disappear|die)
        |better\soff\s(?:dead|without\sme)|no\s(?:point|reason)\s(?:in\s|to\s)?(?:liv|be\salive|being\salive)
        |not\sworth\sliving|overdos\w+
        |(?:took|taken|take|swallow\w*)\s(?:(?:a\s(?:whole\s)?(?:bunch|lot|bottle|handful)|all|too\smany|lots|the\swhole|half)\b.{0,30}\b|\d+\s
        (?:\w+\s){0,3}?)(?:pills|tablets)|jump(?:ing|ed)?\s(?:off|from|out\sof|in\sfront\sof)\s(?:a|the|my|our)\s
        (?:bridge|roof|building|train|window|bus|balcony)""",
        unless=rf"""{FICTION}|kill\stime|laugh|(?:a|per|each|every)\sday|days?\W*\sworth|supposed\sto|prescri
        |the\sdoctor""",
    ),
    cue(
        LedgerCategory.THREAT,
        rf"""{WILL}\s(?:really\s|so\s|just\s)?(?:beat|hit|punch|kick|slap|push|stab|shoot|kill|hurt|attack|burn
        |choke|smash|strangle|jump|drown)\s(?:me|us|him|her|them|you|my|himself|every\s?one|some\s?one|people
        |{NAME})\b
        |(?:said|says|told|wrote|texted|swore|threatened)\b.{{0,40}}\b(?:kill|beat|hurt|stab|shoot|hit|get)\s(?:me|us
        |him|her|them|my)\b""",
        unless=rf"""{FICTION}|{PLAY}|hit\s(?:me|him|her|you)\sup|(?:m[uo]m|dad|parents|teacher|coach|she|he|they
        |this|it|homework|test|exam)(?:'?s|'?re|\sis|\sare|\swill|'?ll)?\s(?:gonna|going\sto|so\sgonna|will|would
        |might|'?ll|'?d)?\s?(?:so\s|literally\s)?kill\sme(?=[.,!]|$|.*\b(?:if|when|for|because|over|grade|mark
        |fail\w*|test|late|sees?|finds?|phone|report|homework|room)\b)
        |push\s(?:me|us|him|her|you|my\w*)\sto""",
    ),
    cue(
        LedgerCategory.THREAT,
        rf"""{HURTS}(?:s|es|ies|ts|ed|ped|bed|ied|en|ened|ens|t)?\s(?:on\s)?{HARMED}|(?:touch(?:es|ed)|grab(?:s
        |bed)|push(?:es|ed))\s(?:me|my\ssister|my\sbrother|her|him)\b
        |(?:been|be|keeps?|kept|was|is|are|were|started)\s(?:following|stalking|filming|touching|hitting|hurting
        |threatening|bullying|harassing|blackmailing|picking\son|beating|kicking|pushing|messaging
        |watching)\s{HARMED}
        |(?:been|being|get|gets|getting|got|was|is|are|were|am)\s(?:bullied|beaten|abused|harassed|blackmailed
        |stalked|threatened|molested|raped|beaten\sup)\b|call(?:s|ed)?\sme\s(?:fat|ugly|a\sfreak)\severy""",
        also=r"(?:i|me|my|us|he|she|they|him|her|we|i'm|our)\b",
        unless=rf"""{FICTION}|{PLAY}|it\s(?:just\s|really\s|suddenly\s)?(?:hit|hurts?|kicks?|attack\w*)\s(?:me|us)|
        (?:beat|beats)\s(?:me|us|him|her|them)\s(?:at|in|to|by|again\sat)\b|hit\s(?:me|us)\s(?:up|that)
        |(?:tooth|teeth|head|back|knee|foot|feet|leg|arm|stomach|tummy|throat|ear|hand|shoe|shoes|ball|book
        |question)s?\s(?:\w+\s)?(?:hit|hits|hurt|hurts)|push(?:es|ed)?\s(?:me|us|him|her)\s(?:to|hard)|(?:dog|cat
        |puppy|kitten|duck|bird|bee|song|goose)\b|insta|tiktok|youtube|twitter|by\saccident|words|hurt\smy\s
        |(?:did|do|were|are|have)\s(?:you|u)\s(?:ever\s)?(?:get|being|been|bullied)|(?:car|truck|bike|cancer|wave
        |wind)\s(?:\w+\s){{0,5}}(?:hit|beat
        |attack)|king|queen|bishop|rook|pawn|habitat|species|extinct|endangered|story|touched\sme\sdeeply|^\W*beats\sme""",
    ),
    cue(
        LedgerCategory.THREAT,
        r"""(?:brought|bring(?:s|ing)?|show(?:ed|s)|pulled|carr(?:y|ies|ied|ying)|pointed|has|have|had|got|hid(?:es
        |ing)?|took)\b.{0,30}\b(?:gun|knife|weapon|pistol|rifle|bomb|machete|razor)s?\b
        |(?:shoot|blow|burn)\s(?:up\s|down\s)?(?:the|our|this|my)\s(?:school|class)|bomb\sthreat""",
        unless=rf"""{FICTION}|kitchen|butter|swiss|palette|cook|bread|toy|nerf|water\sgun|glue|bath|history|war\b
        |museum|drawing|fork|spoon|cake|photo\s?bomb|carv|camp|fish""",
    ),
    cue(
        LedgerCategory.THREAT,
        r"""(?:post|leak|share|send|publish|spread|show)(?:s|ing)?\b.{0,25}\bmy\s(?:pictures?|photos?|pics?|nudes?
        |videos?|address)\b.{0,20}\b(?:if|unless)|threaten(?:s|ed|ing)\s(?:to|me|us|him|her|my)\b|(?:asks?|asked
        |asking|wants?|send|sent)\b.{0,20}\b(?:nudes?|naked)\b
        |(?:stopped|not|hardly|hasn'?t|haven'?t|won'?t|refuses\sto|barely)\s(?:been\s)?eat(?:s|ing|en)?\b.{0,30}\b
        (?:days|completely|at\sall|weeks|anything|faint\w*)|mak(?:e|es|ing)\s(?:my|her|him)self\s(?:throw\sup|vomit
        |sick|puke)
        |(?:scared|afraid|terrified)\s(?:to\sgo\shome|of\s(?:going\shome|being\sat\shome|my\s(?:step)?-?(?:dad|father
        |mom|mum|brother|uncle)))|(?:not|don'?t\sfeel|doesn'?t\sfeel|never\sfeel|isn'?t)\ssafe\b|unsafe|run
        (?:ning)?\saway\sfrom\shome|ran\saway\sfrom\shome|lock(?:s|ed)\s(?:me|us|him|her)\s(?:in|out|up)""",
        unless=rf"{FICTION}|{PLAY}|king|queen|bishop|rook|knight|pawn|answer|website|password|internet",
    ),
    cue(
        LedgerCategory.THREAT,
        rf"""hang(?:ed|ing)?\s{SELF}|drown(?:ed|ing)?\s{SELF}|(?:nobody|no\s?one)\s(?:would|will)\s(?:even\s)?(?:miss
        |care\sif)
        |(?:end|ending)\s(?:it|everything)\s(?:all|tonight|soon|today)|goodbye\s(?:letter|note)|don'?t\ssee\s(?:a|the
        |any)\spoint\s(?:in\sliving|any\s?more)
        |(?:disappear|go\sto\ssleep\sand\s(?:not|never)\swake)\s(?:forever|for\sgood|up)|thoughts\sof\s(?:dying|death
        |killing)|think(?:ing)?\sabout\s(?:dying|death|killing)
        |(?:thr[eo]ws?|threw)\s(?:\w+\s){{1,3}}at\s{HARMED}|bruises?\b|(?:wait(?:s|ing)?|waited)\sfor\sme\s(?:after
        |outside|at\sthe)|knows?\swhere\si\slive|(?:gonna|going\sto|'?ll|will)\s(?:get|jump|find)\s(?:me|you|him
        |her)\s(?:after|at|outside|when)
        |wants?\s(?:me\s)?to\smeet\s(?:me|up|him|alone)|(?:met|know)\s(?:him|her|this\s\w+|someone|a\s\w+)\sonline
        |dead\smeat|you'?re\sdead|death\sthreats?|(?:slammed|dragged|pinned|held)\s(?:me|us|him|her|my)\b
        |(?:drinks?|drunk)\sand\s(?:\w+\s)?(?:drives?|drove|hits?|yells?|screams?|throws?)|(?:scared|afraid
        |terrified)\s(?:that\s)?(?:he|she|they|someone|my\s\w+)(?:'?ll|\swill|\smight|'?s\sgoing|\sis\sgoing)\s
        (?:to\s)?(?:hurt|kill|hit|beat|do\ssomething)""",
        also=r"(?:i|i'?m|me|my|us|he|she|they|him|her|we|our)\b",
        unless=rf"{FICTION}|{PLAY}|fruit|apple|banana|ball\b|dinosaur|history",
    ),
    # A student speaking of harm done to or wished by the student: few words take it back.
    cue(
        LedgerCategory.THREAT,
        r"""(?:kill|hurt|harm|cut)\smy\s?self|(?:i|i'?m|i'?ve|my)\s(?:\w+\s){0,4}suicid\w*|(?:want|wish)\s(?:to\sdie|i
        \s(?:was|were)\sdead)|self[-\s]harm""",
        unless=r"""squad|(?:don'?t|do\snot|never|didn'?t)\s(?:\w+\s)?want\sto\sdie\b.*\b(?:game|level|minecraft
        |fortnite|roblox)""",
    ),
    cue(
        LedgerCategory.THREAT,
        r"(?:hits|beats|abuses|touches)\sme\b",
        unless=r"""(?:it|this|that|what|which|ball|song|music|story|book|film|movie|poem|reality|dog|cat|puppy|kitten
        |zombies?|dragon|monster|boss|villain|enemy|skeleton|creeper|bot)\s(?:\w+\s)?(?:hits|beats|touches)\sme
        |^\W*beats\sme|beats\sme\s(?:at(?!\s(?:home|night|school))|to\s(?:the|it)|in\s(?:a\s|the\s|every\s)?(?:race
        |game|match|math\w*|spelling|chess|sport|quiz))""",
    ),
)


_KINDS = (
    ConcernKind.SELF_HARM,
    ConcernKind.SELF_HARM,
    ConcernKind.VIOLENCE,
    ConcernKind.ABUSE,
    ConcernKind.VIOLENCE,
    ConcernKind.OTHER_DANGER,
    ConcernKind.SELF_HARM,
    ConcernKind.SELF_HARM,
    ConcernKind.ABUSE,
)


def find_danger(doc: Doc, vector: Vector | None = None) -> Danger | None:
    """Danger that a message tells of; None where it tells of none. The whole text is read.

    Parameters
    ----------
    doc : Doc
    vector : array of shape (384,), its embedding by the shipped model; None where another model embeds

    Source: spec 20.

    Examples
    --------
    >>> find_danger(Doc("Hi! I don’t want to live anymore.")).kind.value
    'self_harm'
    >>> find_danger(Doc("Suicide Squad was a boring film.")) is None
    True
    """
    text = straightened(doc.text)
    for start, stop in read_spans(doc):
        for sign, kind in zip(DANGER_SIGNS, _KINDS, strict=True):
            if announced(sign, text[start:stop]) is not None:
                return Danger(kind, 2, AboutWhom.SELF, 1.0)
    return None


SAME_ALARM_SCORE = 92.0
"""Fuzzy score from which on two messages are the same false alarm."""


def is_known_alarm(doc: Doc, danger: Danger, alarms: Sequence[FalseAlarm]) -> bool:
    """True if a message is like one of the same student that was no danger after all.

    Like is the same text but for small things, with the same negations, taken for no more urgent than that one was.
    What endangers a life now is never taken for one.

    Examples
    --------
    >>> alarms = [FalseAlarm("the dragon stabbed me again lol", ConcernKind.VIOLENCE, 2)]
    >>> taken = Danger(ConcernKind.VIOLENCE, 2)
    >>> is_known_alarm(Doc("The dragon stabbed me again, lol!"), taken, alarms)
    True
    >>> is_known_alarm(Doc("My uncle stabbed me again lol"), taken, alarms)
    False
    """
    if danger.urgency >= ACUTE:
        return False
    text, negations = said(doc.text), _negations(doc)
    return any(
        danger.urgency <= alarm.urgency
        and fuzz.ratio(text, said(alarm.text)) >= SAME_ALARM_SCORE
        and negations == _negations(Doc(alarm.text))
        for alarm in alarms
    )


def _negations(doc: Doc) -> int:
    return sum(map(is_negation, doc.words))


def read_spans(doc: Doc) -> list[tuple[int, int]]:
    """The spans of the sentences; an endless one in pieces, as patterns look far ahead."""
    spans = []
    for sentence in doc.sentences:
        start, stop = sentence.start, sentence.end
        while start < stop:
            end = stop
            if stop - start > SIGN_CHARACTERS:
                end = doc.text.rfind(" ", start + 1, start + SIGN_CHARACTERS) + 1 or start + SIGN_CHARACTERS
            if _LETTER.search(doc.text, start, end):
                spans.append(stripped(doc.text, start, end))
            start = end
    return spans


_SECRECY = re.compile(
    r"\b(?:won'?t|will not|never|not going to|promise not to) (?:\w+ )?(?:tell|share|say)\b"
    r"|\b(?:our|keep (?:it|this|that)(?: a| as a| as our)?) (?:little )?secret\b"
    r"|\bbetween (?:us|you and me)\b|\bconfidential\b",
    re.IGNORECASE,
)
_HONESTLY = re.compile(r"\b(?:can(?:no|')?t|cannot|not able to|unable to) (?:\w+ ){0,3}$", re.IGNORECASE)
_EXERCISE = re.compile(
    r"\d\s*[-+*/=×÷]\s*\d|\b(?:back to|on with|continue with|carry on with|return to|focus on) (?:the|our|your) "
    r"(?:\w+ )?(?:exercise|lesson|homework|work|task|problem|question|fractions?|maths?|essay)\b|\bnext step\b",
    re.IGNORECASE,
)


def is_careful(reply: str) -> bool:
    """True if a reply to somebody in danger neither promises secrecy nor turns to the exercise, as far as English goes.

    Examples
    --------
    >>> is_careful("I am so glad you told me. I cannot keep this between us.")
    True
    >>> is_careful("I won't tell anyone."), is_careful("Sorry to hear that. What is 3 + 4?")
    (False, False)
    """
    secret = any(not _HONESTLY.search(reply[: hit.start()]) for hit in _SECRECY.finditer(reply))
    return not secret and _EXERCISE.search(reply) is None
