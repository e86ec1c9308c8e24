"""Words like "tomorrow" and "on Friday" replaced by the dates they mean on the day they are said."""

import re
from calendar import monthrange
from datetime import date, datetime, timedelta

from graphmem.text.lexicon import MONTHS, WEEKDAYS
from graphmem.text.time_ranges import time_ranges

WEEKEND = WEEKDAYS[5:]
DAYS_OF_YEAR = 365
SEASON_ENDS = {"spring": 5, "summer": 8, "autumn": 11}
"""Last months of the seasons of the north that end in the year in which they begin."""
VERB_CHARACTERS = 200
"""Characters before and after a date in which its verb is looked for."""

_DAYS = {day[:2]: place for place, day in enumerate(WEEKDAYS)}
_MONTHS = {month[:3]: place for place, month in enumerate(MONTHS, 1)}
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?"
    r"|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b"
)
_WEEKDAY = r"(?P<day>mon|tues?|we(?:dn?e?s?|nd?n?e?s)|thu(?:rs)?|fri|sat(?:[ue]r)?|sun)(?:day)?\b(?!s)"
_NEAR = re.compile(
    r"\b(?:the )?(?P<word>day after tomorrow|day before yesterday)\b"
    r"|\b(?P<near>tomorrow|tmrw|tmr|yesterday|last night|this morning|tonight|today)\b",
    re.IGNORECASE,
)
_NEAR_DAYS = {
    "day after tomorrow": 2, "tomorrow": 1, "tmrw": 1, "tmr": 1, "yesterday": -1, "last night": -1,
    "day before yesterday": -2,
}  # fmt: skip
_ON_DAY = re.compile(
    rf"\b(?P<lead>on|this|next|last|by|till?|until|since|before|for|of)\s+{_WEEKDAY}(?!\s*,?\s*(?:the\s+)?\d)"
    r"(?:\s+(?P<part>morning|afternoon|evening|night)\b)?",
    re.I,
)
# "Saturday I have a tournament", "she came friday": a day that nothing leads to, at the edge of what is said.
_BARE_DAY = re.compile(
    rf"(?:^|(?<=[.,;:!?] ))(?P<first>{'|'.join(WEEKDAYS)})(?= (?:i|i'm|im|we|we're|my|our|he|she|they|there)\b)"
    rf"|\b(?P<word>\w+) (?P<last>{'|'.join(WEEKDAYS)})"
    rf"(?=\W*$|[.;!?]|(?:,| and|, and|, but| but|, so) (?!(?:and|{'|'.join(WEEKDAYS)})\b))",
    re.IGNORECASE,
)
_LEADS_TO_DAY = frozenset(
    """
    on this next last by till til until since before after for of from to every each a an the one and or is was good
    black
    """.split()  # noqa: SIM905
)
_DATE = re.compile(rf"\b(?P<number>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH}(?!,? \d{{4}})", re.IGNORECASE)
_DATE_AFTER = re.compile(rf"\b{_MONTH} (?P<number>\d{{1,2}})(?:st|nd|rd|th)?\b(?!,? \d{{4}})(?!\d)", re.IGNORECASE)
# A day and not a rank: with what leads to a day, and nothing behind it that could be ranked.
_DAY_OF_MONTH = re.compile(
    rf"(?:\b(?P<lead>on|by|till?|until|to|since|from|before|after|for|is|was|due)\s+(?:the )?"
    rf"(?:(?P<weekday>{_WEEKDAY.replace('?P<day>', '?:')})\s+(?:the )?)?"
    rf"|\b(?P<weekday_alone>{_WEEKDAY.replace('?P<day>', '?:')})\s+(?:the )?)(?P<number>\d{{1,2}})(?:st|nd|rd|th)\b"
    rf"(?=\W*$|[,.;:!?)]| (?:and|or|but|at|in|so|because|cos|with|if|when|instead|now|this|too|then|which|of"
    rf"|cause|cuz|coz|bc|since|for|from|by|as|after|before|again|still"
    rf"|i|we|it|they|my|our|btw|by the way|not)\b)",
    re.IGNORECASE,
)
_IN_MONTH = re.compile(rf"\b(?P<lead>in|next|last|this|since|until|till?|from) {_MONTH}(?! \d)", re.IGNORECASE)
_PERIOD = re.compile(
    r"(?<!the )\b(?P<lead>(?:of|since|until|till|from|by|in|for|during|before|after) )?(?P<which>last|next|this)"
    r" (?P<unit>week|month|year|summer|winter|autumn|spring)\b(?!end| of\b)",
    re.I,
)
_AWAY = re.compile(
    r"(?:\b(?P<about>about|around) )?\b(?:(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|\d{1,2}) (?:day|week|month|year)s? ago\b(?! on \d)|(?<!the )(?:last|this|next) weekend\b)",
    re.IGNORECASE,
)
_SPELLED_DAY = re.compile(rf"\b(\d{{1,2}}) ({'|'.join(MONTHS)}) (\d{{4}})\b", re.IGNORECASE)
_PUT_OFF = rf"(?: (?:back|forward))? (?:to|until) (?:the )?(?:\d|next |{'|'.join(WEEKDAYS)})"
_TENSE = re.compile(
    rf"\b(?:(?P<ahead_of>\w{{2,}}ed(?={_PUT_OFF}))"
    r"|(?P<past>was|were|had|did|didn't|didnt|\w{2,}(?<!e)ed|went|came|told|said|made|took|gave|paid|left|read|saw|met|broke|"
    r"lost|won|found|bought|felt|kept|ran|ate|fell|hit|hurt|forgot|slept|spent)"
    r"|(?P<ahead>it'?s moved to|moving|am|is|are|i'm|im|we've got|will|'ll|would|going to|gonna|want|plan"
    r"|'d(?! (?:been|had|gone|\w+ed)\b)"
    r"|promise|till?|until|by|next|have to|need to|must))\b",
    re.IGNORECASE,
)
_NEW_CLAUSE = re.compile(
    r"(?:[,;:–] *|\b(?:and|but|so|because|then|that) )"
    r"(?=(?:i|we|he|she|it|they|you|this|that|there|my|his|her|our|the)\b)",
    re.IGNORECASE,
)
_STATE = re.compile(r"\b(?:am|is|are|i'?m|feels?|gets?)(?:n'?t)?(?: \w+){0,2} \w{2,}ed\b", re.IGNORECASE)
"""How somebody is now, as in "am really scared", which looks like what was."""


def dated(text: str, at: datetime) -> str:
    """A text whose words for days are dates, reckoned from the day it was said.

    Parameters
    ----------
    text : str, in English; what cannot be reckoned stays
    at : datetime, when it was said

    Source: spec 7 (dates reckoned from the day).

    Examples
    --------
    >>> from datetime import UTC
    >>> dated("the test is tomorrow, and the trip on friday", datetime(2026, 2, 24, tzinfo=UTC))
    'the test is on 25 February 2026, and the trip on Friday, 27 February 2026'
    >>> dated("we went there yesterday and in march", datetime(2026, 5, 6, tzinfo=UTC))
    'we went there on 5 May 2026 and in March 2026'
    >>> dated("i am scared of the test on friday, we failed the one on monday", datetime(2026, 5, 6, tzinfo=UTC))
    'i am scared of the test on Friday, 8 May 2026, we failed the one on Monday, 4 May 2026'
    >>> dated("i moved about five years ago, and we met two days ago", datetime(2026, 5, 6, tzinfo=UTC))
    'i moved around 2021, and we met on 4 May 2026'
    >>> dated("last summer", datetime(2026, 5, 6, tzinfo=UTC)), dated("last summer", datetime(2026, 12, 6, tzinfo=UTC))
    ('in summer 2025', 'in summer 2026')
    >>> dated("saturday i have a tournament", datetime(2026, 3, 4, tzinfo=UTC))
    'on Saturday, 7 March 2026 i have a tournament'
    >>> dated("we move at the end of this month", datetime(2026, 5, 6, tzinfo=UTC))
    'we move at the end of May 2026'
    """
    text = _NEAR.sub(lambda m: _near(m, at), text)
    text = _DATE.sub(lambda m: _with_year(m, at, _is_past(m)), text)
    text = _DATE_AFTER.sub(lambda m: _with_year(m, at, _is_past(m)), text)
    text = _DAY_OF_MONTH.sub(lambda m: _this_month(m, at, _is_past(m)), text)
    text = _BARE_DAY.sub(_with_lead, text)
    text = _ON_DAY.sub(lambda m: _weekday(m, at, _is_past(m)), text)
    text = _IN_MONTH.sub(lambda m: _month(m, at, _is_past(m)), text)
    text = _AWAY.sub(lambda m: _away(m, at), text)
    return _PERIOD.sub(lambda m: _period(m, at), text)


def day_ahead(text: str, at: datetime) -> datetime | None:
    """The last day, from the one on and up to the year after, that a text names; None where it names none.

    Parameters
    ----------
    text : str, in English
    at : datetime, aware, when it was said; days are reckoned from it

    Examples
    --------
    >>> from datetime import UTC
    >>> said = datetime(2026, 2, 24, 9, tzinfo=UTC)
    >>> day_ahead("remind me to bring it on friday", said)
    datetime.datetime(2026, 2, 27, 0, 0, tzinfo=datetime.timezone.utc)
    >>> day_ahead("we went there yesterday", said), day_ahead("remind me every friday", said)
    (None, None)
    >>> day_ahead("remind me on 31 December 9999", said) is None
    True
    """
    first = at.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    named = [
        (int(year), MONTHS.index(month.lower()) + 1, int(day))
        for day, month, year in _SPELLED_DAY.findall(dated(text, at))
    ]
    near = [each for each in named if (at.year, at.month, at.day) <= each and each[0] <= at.year + 1]
    ahead = [each for each in near if each[2] <= monthrange(*each[:2])[1]]
    return first.replace(*max(ahead)) if ahead else None


def spelled(day: date) -> str:
    """A day in words.

    Examples
    --------
    >>> spelled(date(2026, 2, 6))
    '6 February 2026'
    """
    return f"{day.day} {MONTHS[day.month - 1].capitalize()} {day.year}"


def _is_past(match: re.Match[str]) -> bool:
    """True if the verb nearest to a date tells of the past: the last before it in its clause, or the first after."""
    # A long row of dates would take for ever if each looked through all of it.
    first = max(0, match.start() - VERB_CHARACTERS)
    place = match.start() - first
    told = _STATE.sub(lambda m: "is".ljust(len(m.group())), match.string[first : match.end() + VERB_CHARACTERS])
    clause = max((found.end() for found in _NEW_CLAUSE.finditer(told, 0, place)), default=0)
    marks = [(mark.start(), mark.lastgroup == "past") for mark in _TENSE.finditer(told, clause)]
    before = [past for start, past in marks if start < place]
    return before[-1] if before else not clause and bool(marks) and marks[0][1]


def _near(match: re.Match[str], at: datetime) -> str:
    word = (match["word"] or match["near"]).lower()
    part = {"last night": "in the night of ", "this morning": "in the morning of ", "tonight": "in the evening of "}
    return part.get(word, "on ") + spelled(at + timedelta(days=_NEAR_DAYS.get(word, 0)))


def _with_lead(match: re.Match[str]) -> str:
    """A day with "on" before it, where nothing else leads to it."""
    if match["first"]:
        return f"on {match['first']}"
    word = match["word"]
    return match.group() if word.lower() in _LEADS_TO_DAY else f"{word} on {match['last']}"


def _weekday(match: re.Match[str], at: datetime, past: bool) -> str:
    lead, place = match["lead"].lower(), _DAYS[match["day"].lower()[:2]]
    ahead = (place - at.weekday()) % 7 or 7
    # What comes in the same week is "on" or "this" Friday.
    ahead += 7 if lead == "next" and place > at.weekday() else 0
    back = lead in ("last", "since") or (past and lead not in ("next", "this", "by", "till", "til", "until"))
    day = at + timedelta(days=(place - at.weekday()) % 7 - 7 if back else ahead)
    lead = "on" if lead in ("this", "next", "last") else "until" if lead in ("til", "till") else lead
    lead = f"{lead} the {match['part'].lower()} of" if match["part"] else lead
    return f"{lead} {WEEKDAYS[place].capitalize()}, {spelled(day)}"


def _year(at: datetime, month: int, day: int, past: bool) -> int:
    later = (month, day) >= (at.month, at.day)
    if past:
        return at.year - 1 if later and (month, day) != (at.month, at.day) else at.year
    return at.year if later else at.year + 1


def _with_year(match: re.Match[str], at: datetime, past: bool) -> str:
    month, day = _MONTHS[match["month"].lower()[:3]], int(match["number"])
    if not 1 <= day <= 31:
        return match.group()
    return f"{day} {MONTHS[month - 1].capitalize()} {_year(at, month, day, past)}"


def _this_month(match: re.Match[str], at: datetime, past: bool) -> str:
    day, lead = int(match["number"]), match["lead"] or "on"
    past = past and lead.lower() not in ("to", "by", "till", "til", "until")
    named = match["weekday"] or match["weekday_alone"]
    step, first = (-1, day > at.day) if past else (1, day < at.day)
    near = [*range(first, first + 2), 0]
    found = [each for months in near if (each := _day_of(at, step * months, day)) is not None]
    found = [each for each in found if not named or _DAYS[named.lower()[:2]] == each.weekday()]
    if not found:
        return match.group()
    weekday = f"{WEEKDAYS[found[0].weekday()].capitalize()}, " if named else ""
    return f"{lead} {weekday}{spelled(found[0])}"


def _day_of(at: datetime, months: int, day: int) -> date | None:
    """The day of the month that is so many months from one; None where it has no such day."""
    years, month = divmod(at.month - 1 + months, 12)
    year = at.year + years
    return date(year, month + 1, day) if 1 <= day <= monthrange(year, month + 1)[1] else None


def _month(match: re.Match[str], at: datetime, past: bool) -> str:
    month, lead = _MONTHS[match["month"].lower()[:3]], match["lead"].lower()
    if match["month"] == "may" and lead != "in":
        return match.group()
    back = past or lead in ("last", "since")
    year = at.year - (back and month > at.month) + (not back and month < at.month)
    lead = "in" if lead in ("next", "last", "this") else lead
    return f"{lead} {MONTHS[month - 1].capitalize()} {year}"


def _away(match: re.Match[str], at: datetime) -> str:
    """So long ago, or a weekend."""
    found = time_ranges(match.group(), at) if at.tzinfo is not None and 1901 < at.year < 2100 else ()
    if not found:
        return match.group()
    day, days = found[0].start, (found[0].end - found[0].start).days
    if days == len(WEEKEND):
        return f"on the weekend of {spelled(day)}"
    if days == len(WEEKDAYS):
        # Its middle is the day that is meant.
        day += timedelta(days=3)
        return f"in the week of {spelled(day - timedelta(days=day.weekday()))}"
    lead = "around" if match["about"] else "on" if days == 1 else "in"
    named = spelled(day) if days == 1 else f"{MONTHS[day.month - 1].capitalize()} {day.year}"
    return f"{lead} {named if days < DAYS_OF_YEAR else day.year}"


def _period(match: re.Match[str], at: datetime) -> str:
    lead = match["lead"] or "in "
    shift, unit = {"last": -1, "this": 0, "next": 1}[match["which"].lower()], match["unit"].lower()
    if unit == "week":
        monday = at - timedelta(days=at.weekday()) + timedelta(weeks=shift)
        return f"{lead}the week of {spelled(monday)}"
    if unit == "month":
        month = at.month - 1 + shift
        return f"{lead}{MONTHS[month % 12].capitalize()} {at.year + month // 12}"
    # In December last summer is this year's.
    is_over = at.month > SEASON_ENDS.get(unit, 12)
    return f"{lead}{at.year + shift}" if unit == "year" else f"{lead}{unit} {at.year + shift + (shift < 0 and is_over)}"
