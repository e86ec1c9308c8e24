"""Modality, kind and confidence of a memory, by rule."""

import re
from dataclasses import dataclass
from functools import lru_cache

from graphmem.model import MemoryKind, Modality
from graphmem.text.arithmetic import Equation, equations
from graphmem.text.doc import Doc
from graphmem.text.lexicon import KIN, SEASONS, WEEKDAYS
from graphmem.text.questions import only_asks

TYPE_CHARACTERS = 600
"""How much of a piece decides what it is; it is said early, if at all."""
READ_WORDS = 120
"""So many words at most."""

STATED_CONFIDENCE = 0.9
"""Confidence in what is stated."""
CHECKED = 0.95
"""Confidence in a reckoning that holds."""
WRONG_CONFIDENCE = 0.7
"""Confidence in a statement with a reckoning that does not hold: it was said, yet hardly meant."""
HEDGED = 0.6
"""Confidence in what is said with a doubt (I think, maybe)."""
ASKED = 0.5
"""Confidence in what is only asked."""


@dataclass(frozen=True)
class Sort:
    """Memory type of a piece: modality and kind."""

    modality: Modality
    kind: MemoryKind


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns))


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_RELATIVE = "|".join(sorted(KIN))
_FEELING = (
    r"(?:happy|happier|sad|cheerful|panick\w*|panic|peaceful|surprised|curious|tense|grumpy|disgusted"
    r"|horrified|empty|unhappy"
    r"|confident|insecure|impatient|amazed|moody|shy|helpless|betrayed|ignored|offended|embarrassed|touched"
    r"|freaked out|worn out|angry|mad at|scared|afraid|terrified|frightened|worried|nervous|anxious|ashamed"
    r"|embarrass\w+"
    r"|proud|excited|thrilled|delighted|lonely|alone|upset|frustrat\w+|confused|stress\w*|disappointed"
    r"|jealous|guilty|grateful"
    r"|thankful|lucky|blessed|hurt|depressed|miserable|overwhelmed|relieved|glad|hopeless|hopeful|bored"
    r"|annoyed|heartbroken"
    r"|devastated|furious|homesick|sick before|stupid|dumb|useless|worthless|calm|joy|joyful|passionate"
    r"|inspired|moved by"
    r"|motivated|shocked|stoked|pumped|psyched|down|good about|bad about|awful|terrible|great about|safe|loved)\b"
)
_EMOTIONAL = _any(
    rf"(?:^|[.!?] )\W*(?:so|really|very|just|also) {_FEELING}|\bcan't wait\b",
    rf"\b(?:i|we)(?:'m| am|m| was| were| are|'re|'ve been| have been| feel| felt| feeling| get| got| become"
    rf"| became)"
    rf"(?: (?!not sure)[a-z']+){{0,3}} {_FEELING}",
    rf"\b(?:made|makes|making|leaves|left) (?:me|us)(?: \w+){{0,3}} (?:laugh|smile|cry|{_FEELING})",
    r"\bi(?: really| still| already)? miss(?:ed)? (?:my|you|him|her|them|our|home|the|being)\b",
    r"\bi (?:cried|was crying|was in tears|burst into tears|can't stop crying|love you|can't wait)\b",
    r"\bi (?:hate|love) (?:it )?when\b|\bi can't stop (?:smiling|crying|laughing|worrying|thinking about)\b"
    r"|\bi worry\b"
    r"|\b(?:scares?|scared|frightens?|annoys?|annoyed|worries|upsets?|terrifies|embarrassed|depresses"
    r"|frustrates) me\b",
    r"\b(?:my heart|my stomach (?:hurts|turns)|in tears|tears in my eyes|butterflies|goosebumps|fills? (?:me"
    r"|my heart)|broke my heart"
    r"|brings? me (?:so much )?(?:joy|peace))\b",
    r"\bi feel (?:so |really |very |pretty )?(?:good|bad|better|worse|great|weird|left out|sick before)\b",
)
_SENSORY = _any(
    r"\b(?:smell(?:s|ed|t|ing)?|stinks?|stank|reek(?:s|ed)|tast(?:es|ed|ing)|taste (?:of|like|so|really"
    r"|good|bad))\b",
    r"\b(?:felt|feels) (?:so |really |very )?(?:cold|warm|hot|soft|rough|smooth|sticky|wet|slimy|sharp|hard"
    r"|fluffy|icy|prickly)\b",
    r"\b(?:i|we) (?:could |can )?(?:hear|heard) (?:the|a|an|my|some|it|them|him|her)\b(?! news)|\bthe sound of\b",
    r"\b(?:itch|sting|hum|squeak|echo|drip|howl|roar|whistl|clatter|tingl|throb|gurgl|rattl)(?:ed|ing|led"
    r"|ling|y|es)\b",
    r"\b(?:on|against|in|between) my (?:skin|tongue|fingers|fingertips|toes|face|lips|nose|ears|mouth|bare feet)\b",
    r"\b(?:so|very|really|too) (?:loud|bright|noisy|dark|quiet)\b|\bblindingly\b",
    r"\b(?:crunch|rustl|creak|buzz|crackl|hiss|rumbl|sizzl|glow|glitter|sparkl|shimmer)(?:ed|ing|led|ling)\b",
    r"\b(?:everything|sky|sea|leaves|water|light) (?:was|were|turned|looked) (?:\w+ )?(?:blue|red|orange"
    r"|pink|gold|golden|green|white"
    r"|grey|silent|purple)\b|\b(?:so|really) (?:spicy|salty|sour|bitter|crunchy|crispy|juicy)\b",
)
_DOING = (
    r"(?:add|multipl|divid|subtract|calculat|convert|round|simplif|solv|plug|substitut|cross|carr|borrow"
    r"|factor|expand|distribut"
    r"|combin|convert|draw|drew|estimat|doubl|halv|set up|took away|take away|worked out|work out|times)\w*"
)
_METHOD = _any(
    r"\bfirst\b.{1,200}\b(?:then|next|after that|and then|second)\b",
    r"\bto (?:find|get|solve|calculate|figure out|make|fold|do|check|work out|determine|draw|build|cook"
    r"|play) .{2,80}?\b(?:you|we|i)"
    r"(?: (?:can|have to|need to|must|should|could|would|just|first|always))* [a-z]+\b",
    rf"\b(?:you|we)(?: (?:can|have to|need to|must|should|just|first|always|then|would"
    rf"|could))+ (?:to )?(?:{_DOING}|use|start"
    r"|take|put|hold|find|look|make|count|move|keep|press|mix|heat|write|turn)\b",
    r"\b(?:before|after) you\b.{1,80}\byou\b|^\W*(?:add|multiply|divide|subtract|take|put|mix|press|turn"
    r"|start|begin|write|draw|find)"
    r" (?:the|it|a|an|your|both|all|with|by|each)\b|\b(?:if|when|whenever) you\b.{1,80}\byou (?:get|have to"
    r"|need|can|should|must)\b",
    rf"\b(?:you|we) (?:{_DOING})\b|\bby (?:{_DOING})ing\b|\bstep (?:1|one|by step)\b|\bthe (?:trick|way"
    rf"|rule|method) (?:is|to)\b",
    r"\b(?:we say|rule of thumb|how to \w+ (?:it|a|the)\b.{0,40}:)",
)
_DID = _any(
    rf"\b(?:i|we)(?: (?:also|first|then|just|only|have|had|started by|began by|'ve"
    rf"|simply))* (?:{_DOING})(?:ed|d|ied)?\b"
    r"(?!.{0,60}\btwice\b)",
    rf"\bi (?:took|used|made|got|know|knew)\b.{{1,80}}\band (?:then )?(?:{_DOING})ed\b",
    r"\b(?:i|we) (?:started by|began by|set up|let x|used .{1,60}? to (?:find|get|solve|calculate|figure"
    r"|check)|got .{1,40}? by)\b",
    r"\bto (?:find|get|wash|make|check|solve|calculate|fix) .{2,60}?,? (?:i|we) (?:\w+ed|used|took|put|drew"
    r"|made)\b",
    rf"\bi(?: would|'d| will|'ll| can| need to| have to)(?: \w+)? (?:{_DOING})\b",
)
_HABIT = _any(
    r"\bi (?:always|usually|often|normally|mostly|tend to)\b(?!.{0,20}\b(?:eat|drink|watch|listen|play|go"
    r"|visit)\b)",
    r"\b(?:when|whenever|if) i (?:get stuck|study|read|learn|practi[sc]e|don't understand|am stuck"
    r"|work)\b.{0,40}\bi\b",
    r"\bi (?:learn|study|work|understand) (?:it )?(?:best|better)\b|\bmy (?:trick|method|way) (?:is|of)\b",
)
ASIDE = 3
"""Most words told beside a question for a message to be nothing but the question."""
LAPSE = _any(
    r"\bi (?:forgot|don't remember|can't remember|don't understand|didn't (?:understand|get|know|see"
    r"|realize|realise)|got (?:it )?wrong"
    r"|made a mistake|misread|messed up|should(?:n't)? have|was (?:thinking|trying|working|wrong))\b"
)
_DAYS = "|".join(WEEKDAYS)
_TIME = _any(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|this (?:morning|afternoon|evening|week|weekend|month|year)"
    r"|last (?:\w+ )?(?:night"
    rf"|week|weekend|month|year|{'|'.join(SEASONS)}|time|{_DAYS})"
    rf"|next (?:week|weekend|month|year|summer|{_DAYS})"
    r"|the other day"
    rf"|on (?:{_DAYS})|all weekend|recently|just now|when i was)\b"
)
_EVENT = _any(
    r"\b(?:an?|some) (?:\w+ ){1,2}(?:opened|closed|crashed|fell|arrived|died|happened|exploded"
    r"|burned|started)\b"
)
_OPINION = re.compile(
    r"\b(?:i|we) (?:also |just |really )?(?:think|know|believe|guess|thought|suppose|learned|learnt"
    r"|remember|see|understand|mean|said)"
    r"(?: that)?(?! i\b| my\b| how\b| what\b| the \w+ for\b)\b|\b(?:i'm|i am) (?:not )?(?:sure|right"
    r"|done)\b|\bi (?:agree|get it)\b"
    r"|\b(?:let|tell|gives?|show|remind|ask|asked|tells?|help) (?:me|us)\b"
)
ADDRESS = re.compile(r"\b(?:you|your|you're|you've|you'll|yours|yourself)\b|^\W*(?:glad|congrats)\b")
# Intentions, reactions and what was done up to now: said of oneself, yet nothing lasting.
_PASSING = _any(
    r"\b(?:i'll|i will|we'll|i won't|let's|gonna|i'm going to|i am going to|i'd|i bet|i hope"
    r"|i appreciate|did i|can i|should i)\b",
    r"\b(?:i've|i have|we've) (?:never |always |also |just |already |finally )*(?:been|had|done|seen"
    r"|read|made|\w+ed)\b",
)
_HEDGE = _any(
    r"\b(?:i think|i guess|i believe|i suppose|maybe|perhaps|probably|possibly|might|not sure|unsure"
    r"|i thought|kind of|kinda|sort of|idk"
    r"|it could|could be|i feel like|seems?)\b"
)
MINE = _any(rf"\b(?:i|im|i'm|i've|my|mine|me|we|our|us|{_RELATIVE})\b")
_SELF = _any(rf"\b(?:i|im|i'm|i've|i'd|i'll|my|we|we're|our|(?:my|our) (?:{_RELATIVE}))\b(?! own\b)")

_WHO = _words("i we") | KIN
_OWN = _words("my our")
_BEING = _words("was were had")
_PAST = _words("""
    was were went had did made got took came saw said told met gave found bought brought built broke lost won
    ran swam
    drove flew rode ate drank slept woke fell felt heard read wrote sang spoke taught caught fought thought left
    kept
    began chose drew grew threw wore hurt sold sent spent stood stuck hid hit cut put quit forgot signed
""")
_NOT_PAST = _words(
    "called named need feed bed red indeed speed seed exceed succeed bleed breed weed wicked naked hundred sacred"
)
_LOOK_AHEAD = 4
"""Words after "I" or "my sister" among which a verb is looked for."""


def sort_of(doc: Doc, lasting: bool = False) -> Sort:
    """Classify the memory type of a piece of a message.

    Parameters
    ----------
    doc : Doc, in English; of a long one the first 600 characters are read
    lasting : whether it tells an attribute that holds from now on, though it may tell how it came ("I moved to Rome")

    Returns
    -------
    Sort; episodic where something is asked, or happened to the student or their family; emotional, sensory and
    procedural before that, in this order. Without any sign it is a concept, or a trait where the student speaks of
    their own

    Notes
    -----
    "I think that ..." makes what follows no less a concept.

    Source: spec 1 (kind, modality).

    Examples
    --------
    >>> def sort(text: str) -> str:
    ...     return " ".join(sort_of(Doc(text)).__dict__.values())
    >>> sort("I broke my arm yesterday"), sort("A square has four equal sides")
    ('episodic episode', 'semantic concept')
    >>> sort("I feel lonely at lunch"), sort("First you add, then you divide")
    ('emotional trait', 'procedural concept')
    """
    plain = doc.plain[:TYPE_CHARACTERS]
    happened = not lasting and (_TIME.search(plain) is not None or _has_past(doc) or _EVENT.search(plain) is not None)
    if _EMOTIONAL.search(plain):
        return Sort(Modality.EMOTIONAL, MemoryKind.EPISODE if happened and not _lasts(plain) else MemoryKind.TRAIT)
    if _SENSORY.search(plain):
        return Sort(Modality.SENSORY, MemoryKind.EPISODE)
    if is_question(doc):
        return Sort(Modality.EPISODIC, MemoryKind.EPISODE)
    return _method(plain) or _told(plain, happened)


def is_question(doc: Doc) -> bool:
    """True if a text only asks.

    Examples
    --------
    >>> is_question(Doc("and how do you say red?")), is_question(Doc("i like red. you too?"))
    (True, False)
    """
    read = [sentence for sentence in doc.sentences if sentence.start < TYPE_CHARACTERS]
    told = [sentence for sentence in read if not only_asks(sentence.plain[:TYPE_CHARACTERS])]
    return len(told) < len(read) and sum(len(sentence.text.split()) for sentence in told) <= ASIDE


def confidence(doc: Doc) -> float:
    """Confidence of a statement, by its wording, in [0, 1]: the constants of this module.

    Examples
    --------
    >>> [confidence(Doc(t)) for t in ("It is red.", "12 - 3 = 9", "12 - 3 = 8", "Maybe red.", "Is it red?")]
    [0.9, 0.95, 0.7, 0.6, 0.5]
    """
    plain = doc.plain[:TYPE_CHARACTERS]
    if is_question(doc) or (plain.rstrip().endswith("?") and "." not in plain):
        return ASKED
    if _HEDGE.search(plain):
        return HEDGED
    reckoned = _equations(plain)
    if not reckoned:
        return STATED_CONFIDENCE
    return CHECKED if all(equation.holds for equation in reckoned) else WRONG_CONFIDENCE


@lru_cache(maxsize=16)
def _equations(plain: str) -> tuple[Equation, ...]:
    return tuple(equations(plain))


def _lasts(plain: str) -> bool:
    """True if a feeling is told as lasting, though something happened once ("scared of dogs since one bit me")."""
    return (
        re.search(
            r"\b(?:always|every|whenever|since)\b|\bi(?:'m|m| am) \w* ?(?:scared|afraid"
            r"|terrified) of\b",
            plain,
        )
        is not None
    )


def _method(plain: str) -> Sort | None:
    if _HABIT.search(plain):
        return Sort(Modality.PROCEDURAL, MemoryKind.TRAIT)
    reckons = len(_equations(plain)) > 1
    if LAPSE.search(plain) or (_TIME.search(plain) and not reckons):
        return None
    if _DID.search(plain) or reckons:
        return Sort(Modality.PROCEDURAL, MemoryKind.EPISODE)
    return Sort(Modality.PROCEDURAL, MemoryKind.CONCEPT) if _METHOD.search(plain) else None


def _told(plain: str, happened: bool) -> Sort:
    facts = _OPINION.sub(" ", plain)
    mine = _SELF.search(facts) is not None
    if mine and _PASSING.search(facts):
        return Sort(Modality.EPISODIC, MemoryKind.EPISODE)
    if LAPSE.search(plain) or (happened and (mine or _TIME.search(plain) or _EVENT.search(plain))):
        return Sort(Modality.EPISODIC, MemoryKind.EPISODE)
    if not mine and ADDRESS.search(plain) and not any(map(str.isdigit, plain)):
        return Sort(Modality.EPISODIC, MemoryKind.EPISODE)
    return Sort(Modality.SEMANTIC, MemoryKind.TRAIT if mine else MemoryKind.CONCEPT)


def _has_past(doc: Doc) -> bool:
    """True if a past action of the student or their family is told."""
    words = doc.plain_words[:READ_WORDS]
    for i, word in enumerate(words):
        if word in _OWN and any(_is_past(w) and w not in _BEING for w in words[i + 1 : i + 1 + _LOOK_AHEAD]):
            return True
        if word in _WHO and any(map(_is_past, words[i + 1 : i + 1 + _LOOK_AHEAD])):
            return True
    return False


def _is_past(word: str) -> bool:
    return word in _PAST or (word.endswith("ed") and len(word) > 3 and word not in _NOT_PAST)
