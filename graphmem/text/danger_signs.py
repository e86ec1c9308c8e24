"""Plain signs of danger that must never be missed, beside the trained model (spec 20).

Only what says it in so many words; all else is the model's. One alternative a line, English first, then ten other
languages.
"""

import re

from graphmem.model import ConcernKind

_KIN = (
    r"(?:(?:step|foster|grand)[ -]?)?(?:m[uo]m(?:my)?|mama|mother|da(?:d|ddy)?|papa|father|parents|brother|sister|uncle"
    r"|aunt|cousin|grandpa|grandma|boyfriend|girlfriend|husband|wife|carer|coach|teacher|tutor|priest|babysitter)"
)
_WHO = rf"(?:he|she|they|(?:my|his|her|their)(?: \w+)? {_KIN}(?:'s (?:new )?\w+)?|dad|mum|mom|mother|father|papa)"
_ME = r"(?:me|us|my (?:little |baby |big )?(?:sister|brother|mum|mom|mother))"

_SIGNS: dict[ConcernKind, str] = {
    ConcernKind.SELF_HARM: r"""
        (?:kill|hurt|harm|hang|drown|cut|burn|stab)(?:ed|s|t?ing)?\ (?:my|him|her|them)sel(?:f|ves)
        |(?:i\ want|i\ wanna|she\ wants|he\ wants|just\ want|wish\ i\ could|i'd\ rather|planning)\ (?:to\ )?
            (?:die\b(?!\ of|\ for|\ in)|be\ dead|end\ (?:it(?:\ all)?|my\ life)|not\ (?:exist|wake\ up)|never\ wake)
        |(?:do\ not|don'?t|doesn'?t|no\ longer)\ (?:want|wanna)(?:\ to)?\ (?:live\b(?!\ in|\ with|\ near)|be\ alive
            |exist|go\ on\ living)
        |(?:end|take|took|taking|ending)\ (?:it\ all|(?:my|her|his)\ (?:own\ )?life)
        |better\ off\ (?:dead|without\ me)|no\ (?:point|reason)\ (?:in\ |to\ )?(?:liv|be\ alive)|not\ worth\ living
        |(?:i'?m|i\ am|feel(?:ing)?|she'?s|he'?s|been)\ (?:\w+\ )?suicidal
        |(?:cut|cuts|cutting|slit)\ (?:my|her|his)\ (?:own\ )?(?:arms?|wrists?|legs?|thighs?)
        |(?:took|taken|swallowed)\ (?:\w+\ ){0,2}(?:bottle|handful|packet|bunch|load|lot|all|too\ many)\b
            .{0,30}(?:pills|tablets|meds)
        |\bi\ (?:\w+\ ){0,2}self[\ -]?harm(?:ed|ing)?\b
        |me\ quiero\ morir|quiero\ (?:morirme?|matarme)|no\ quiero\ (?:seguir\ )?vivi|quitarme\ la\ vida
        |(?:will|möchte|mag|wollte)\ (?:einfach\ )?(?:nicht\ mehr\ (?:leben|da\ sein)|sterben)
        |bringe?\ mich\ (?:\w+\ )?um|mich\ umbringen|ritze?\ (?:ich\ )?mich
        |(?:veux|voudrais|envie\ de)\ (?:plus\ vivre|mourir|me\ tuer|me\ suicider|en\ finir)|plus\ envie\ de\ vivre
        |je\ me\ (?:scarifie|mutile)
        |ölmek\ istiyorum|kendimi\ (?:öldür|kes)|yaşamak\ istemiyorum
        |(?:أريد|اريد|أفكر|بدي|اتمنى|أتمنى).{0,18}(?:أموت|اموت|الموت|الانتحار)
        |(?:أقتل|اقتل|أؤذي)\ نفسي|لا\ أريد\ أن\ أعيش
        |chcę\ (?:umrzeć|się\ zabić)|zabi(?:ję|ć)\ się|nie\ chc(?:ę|e)\ (?:już\ |mi\ się\ )?żyć|tnę\ się
        |(?:quero|vontade\ de|queria)\ (?:morrer|me\ matar)|não\ quero\ (?:mais\ )?(?:viver|existir)
        |想死(?!你)|不想活|自杀|自殺|自残|割腕|活着没意思
        |मर(?:ना|\ जाना)\ चाहत|आत्महत्या|जीना\ नहीं|marna\ chaht|jeena\ nahi|khudkushi
        |(?:voglio|vorrei)\ (?:solo\ )?(?:morire|uccidermi|ammazzarmi|farla\ finita)|non\ voglio\ (?:più\ )?vivere
    """,
    ConcernKind.ABUSE: r"""
        (?:do\ not|don'?t|doesn'?t|never)\ feel\ safe\ (?:at\ home|with\ (?:him|her|them))
        |<who>\ (?:\w+\ )?(?:hits?|beats?|slap(?:s|ped)|punch(?:es|ed)|kick(?:s|ed)|chok(?:es|ed)|whip(?:s|ped))\ <me>\b
            (?!\ (?:to\ the|at|in\ (?:a|the)|up)\b)
        |schlägt\ mich|mich\ (?:schlägt|verprügelt)|me\ (?:frappe|bate)|bate\ em\ mim|mnie\ bije|bije\ mnie|mi\ picchia
        |me\ pega(?:n|ba|ó)?\b|(?:beni|bizi)\ .{0,12}(?:dövüyor|dövdü)|يضربني|ضربني|家暴|मारते\ हैं|mujhe\ maarte
    """,
    ConcernKind.SEXUAL_ABUSE: r"""
        \braped?\b(?!seed)|molest(?:s|ed|ing)?\b|sexually\ (?:assault|abus)\w+
        |(?:uncle|stepdad|cousin|coach|teacher|priest|tutor|stepbrother)\b.{0,25}\ touch(?:es|ed)\ (?:me|my)
        |me\ violó|vergewaltigt|m'a\ violée?|tecavüz|اغتصب|zgwałc|me\ estupr|强奸|性侵|बलात्कार|violentat[ao]
    """,
    ConcernKind.VIOLENCE: r"""
        (?:said|says|threaten\w*|texted|swore)\ (?:he'?d|he'?ll|she'?d|she'?ll|they'?d|they'?ll|to|that)\ (?:\w+\ )?
            (?:kill|stab|shoot)\ (?:me|us|my\ (?:mum|mom|sister|brother))\b
        |death\ threats?\b
    """,
    ConcernKind.THREAT_TO_OTHERS: r"""
        (?:shoot|blow)(?:ing)?\ up\ (?:the|our|this|my)\ (?:school|class)|kill\ ?list\b
    """,
    ConcernKind.BULLYING: r"""
        (?:told|tells?|telling|said|says)\ (?:me|her|him)\ to\ (?:kill\ (?:my|her|him)self|kys)|\bkys\b
    """,
}


_FICTION = re.compile(
    r"\b(?:in|from|of) (?:the|this|that|my|a) (?:\w+ )?(?:book|story|novel|film|movie|series|show|game|play|poem)s?\b"
    r"|\b(?:macbeth|romeo|juliet|hamlet|minecraft|roblox|fortnite|zombies?|creeper|squad)\b"
    r"|\b(?:this|next|last) (?:level|chapter|episode|act|scene)\b",
    re.IGNORECASE,
)


def _pattern(alternatives: str) -> re.Pattern[str]:
    named = {"<who>": _WHO, "<me>": _ME}
    for name, value in named.items():
        alternatives = alternatives.replace(name, value.replace(" ", r"\ "))
    return re.compile(alternatives, re.IGNORECASE | re.VERBOSE)


_PATTERNS = {kind: _pattern(alternatives) for kind, alternatives in _SIGNS.items()}


def danger_sign(text: str) -> ConcernKind | None:
    """The kind of the first plain sign of danger in a text; None where there is none, or a story or game is told.

    Parameters
    ----------
    text : str, with straight apostrophes

    Examples
    --------
    >>> danger_sign("i dont know, i want to kill myself").value, danger_sign("kein Bock, ich will sterben").value
    ('self_harm', 'self_harm')
    >>> danger_sign("This homework kills me.") is None
    True
    """
    kind = next((kind for kind, pattern in _PATTERNS.items() if pattern.search(text)), None)
    return None if kind is None or _FICTION.search(text) else kind
