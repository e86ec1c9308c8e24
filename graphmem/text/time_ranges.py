"""Time expressions of a question or a message, as ranges of time, by rule, for English (spec 10)."""

import re
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from graphmem.errors import InvalidInput
from graphmem.text.lexicon import MONTHS, WEEKDAYS
from graphmem.text.stems import is_past

EARLIEST, LATEST = datetime(1900, 1, 1, tzinfo=UTC), datetime(2101, 1, 1, tzinfo=UTC)
"""What "before ..." reaches back to, and "after ..." on to where that lies ahead."""
CLAUSE_CHARACTERS = 200
"""Characters before and after a day in which its verb is looked for."""


@dataclass(frozen=True)
class TimeRange:
    """From `start` up to, not including, `end`; both aware, in one time zone, and in this order."""

    start: datetime
    end: datetime


Rule = Callable[[re.Match[str], datetime], TimeRange | None]

_MONTH_STARTS = tuple(month[:3] for month in MONTHS)
_SEASONS = {"spr": 3, "sum": 6, "aut": 9, "fal": 9, "win": 12}
_DAY_STARTS = tuple(day[:3] for day in WEEKDAYS)
_HOURS = {"morning": (5, 12), "afternoon": (12, 18), "evening": (17, 24), "night": (18, 30)}
_NUMERALS = "a one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905
_COUNT_WORDS = {word: max(1, n) for n, word in enumerate(_NUMERALS)} | {
    "an": 1,
    "couple": 2,
    "few": 3,
    "several": 4,
}

# Months, seasons and years are also names, verbs and numbers: alone they need a word before them that dates.
_DATING = r"(?:\b(?:in|of|during|since|before|after|until|till|through|from|between|early|late|mid|over)(?: the)?[ -])"
_JOINING = rf"(?:{_DATING}|(?-i:\b(?:and|or|to) (?=[A-Z])))"
_MONTH_NAME = r"(?P<name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
_MONTH_NAME += r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
_MONTH_OR_SEASON = _MONTH_NAME.replace("jan(", "spring|summer|autumn|fall|winter|jan(", 1)
_WEEKDAY_NAME = r"(?P<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?-i:Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun))\b"
_WEEKDAY_NAME += r"(?!['’]s| (?:morning|afternoon|evening|night)s)"
_NEED_CAPITALS = ("jan", "mar", "march", "may")
_DAY, _YEAR = r"(?P<day>\d{1,2})", r"(?P<year>19\d\d|20\d\d|2100)\b"
_OF_YEAR = rf"(?:,? (?:of )?{_YEAR})"
_WHICH_OF = r"\b(?P<which>last|this|past|next|previous) "
_COUNT = rf"(?:a )?(?P<count>\d{{1,3}}|{'|'.join(_COUNT_WORDS)})(?: of)? (?P<unit>day|week|month|year)s?\b"
_PART_OF_DAY = rf"(?P<part>{'|'.join(_HOURS)})\b"
_NO_COUNT = r"(?=$|[^\w ,/.-]|[,.-](?!\d)| (?:and|or|to|until|till|did|was|were|had|what|when|where|who|i|we|he|she)\b)"
_AHEAD = frozenset(
    "am are by gonna going i'd i'll i'm im is it's must need next promised till until want will would".split()  # noqa: SIM905
)
"""Words of a clause whose day lies ahead, whatever else was."""
_NO_OTHER = re.compile(r"\d{4}|\b(?:ago|last|past|previous|this|today|tonight|yesterday)\b")
_CLAUSE_ENDS = re.compile(
    r"[.,;:!?] |\b(?:and|but|because|so|that) (?=(?:i|we|he|she|it|they|my|our)\b)", re.IGNORECASE
)
_LEADS_TO_DAY = r"\b(?:on|by|to|is|was|due|before|after|since|from|till?|until|\w{3,6}day) (?:the )?"
_NO_RANK = r"(?=\W*$|[,.;:!?)]| (?:and|or|but|at|in|so|because|cause|cos|if|when|instead|now|from|i|we|it|they|my)\b)"
_SINCE = re.compile(r"\b(since|after|before|until|till)(?: the| last| early| late)?[ -]?$", re.IGNORECASE)
_FROM = re.compile(r"\b(?:between|from)(?: the| last)? ?$", re.IGNORECASE)
_TO = re.compile(r" ?(?:and|to|until|till|through|-|–)(?: the| last| this)? ?", re.IGNORECASE)


def time_ranges(text: str, now: datetime) -> tuple[TimeRange, ...]:
    """The times a text speaks of, in the order it does, none twice.

    Parameters
    ----------
    text : str, of any length; read in linear time
    now : datetime, aware, in the years 1900 to 2100; what "today" and "last week" are seen from

    Returns
    -------
    tuple of TimeRange, each with start < end, between 1900 and 2101; empty where no time is named

    Raises
    ------
    InvalidInput                    `now` has no time zone or lies outside those years

    Notes
    -----
    Days begin at midnight by the clock of `now`, weeks on Monday; seasons are those of the north. A day, month or
    season without a year is the latest that has begun by `now`; "last" is the latest that is over; "past" counts
    back from `now`. "Two weeks ago" is seven days around that day, months and years ago are whole ones; "a few" is
    two to six. A date such as 5/8/2023, which could be two days, is not read.

    Source: spec 10.

    Examples
    --------
    >>> for found in time_ranges("Was it in May or yesterday?", datetime(2023, 8, 2, 9, tzinfo=UTC)):
    ...     print(found.start.date(), found.end.date())
    2023-05-01 2023-06-01
    2023-08-01 2023-08-02
    """
    if now.tzinfo is None or not EARLIEST.year < now.year < LATEST.year:
        raise InvalidInput("The present time needs a time zone and a year from 1901 to 2100.")
    # Days are those of its clock, whatever the zone.
    text, clock = " ".join(text.split()), now.replace(tzinfo=UTC)
    named = dict.fromkeys(found for found in _ranges_joined(text, _single_ranges(text, clock), clock) if _sound(found))
    return tuple(TimeRange(*(edge.replace(tzinfo=now.tzinfo) for edge in (each.start, each.end))) for each in named)


def day_ahead(text: str, at: datetime) -> datetime | None:
    """Return the last day, from the one on and up to the year after, that a text names; None where it names none.

    Parameters
    ----------
    text : str, in English; a day is the next one of its name, unless the verb of its clause tells of the past
    at : datetime, aware, when it was said; days are reckoned from it

    Examples
    --------
    >>> said = datetime(2026, 2, 24, 9, tzinfo=UTC)
    >>> day_ahead("remind me to bring it on friday", said)
    datetime.datetime(2026, 2, 27, 0, 0, tzinfo=datetime.timezone.utc)
    >>> [day_ahead(text, said) for text in ("we went there on friday", "remind me every friday")]
    [None, None]
    """
    if not EARLIEST.year < at.year < LATEST.year:
        return None
    text, clock = " ".join(text.split()), at.replace(tzinfo=UTC)
    today, latest = _whole_unit("day", clock, 0).start, _months(at.year + 2, 1, 1).start
    days = [_next_day(text, start, end, read, today) for start, end, read in _single_ranges(text, clock)]
    ahead = [day for day in days if day is not None and today <= day < latest]
    return max(ahead).replace(tzinfo=at.tzinfo) if ahead else None


def _next_day(text: str, start: int, end: int, read: TimeRange, today: datetime) -> datetime | None:
    """A day that was read as the latest of its name, as the next one where no word looks back."""
    day, said = read.start.replace(hour=0), text[start:end].lower()
    lead = _CLAUSE_ENDS.split(text[max(0, start - CLAUSE_CHARACTERS) : start])[-1].lower().split()
    follows = _CLAUSE_ENDS.split(text[end : end + CLAUSE_CHARACTERS])[0].lower().split()
    if read.end - read.start > timedelta(days=1) or lead[-1:] in (["every"], ["each"]):
        return None
    if day > today or _NO_OTHER.search(said):
        return day
    told = (*lead, *follows)
    if any(map(is_past, told)) and _AHEAD.isdisjoint(told) and "to" not in lead[-2:]:
        return None
    if not any(map(str.isdigit, said)):
        return day + timedelta(days=7)
    monthly = not any(month[:3] in said for month in MONTHS)
    later = (_day_of_month(day, months) for months in (range(12) if monthly else (0, 12, 24, 36, 48, 96)))
    named = [WEEKDAYS.index(word) for word in lead[-2:] if word in WEEKDAYS]
    fit = (found for found in later if found is not None and found >= today)
    return next((found for found in fit if not named or found.weekday() in named), None)


def _day_of_month(day: datetime, months: int) -> datetime | None:
    """The same day so many months later; None where that month has none."""
    month = _months(day.year, day.month + months, 1)
    found = month.start + timedelta(days=day.day - 1)
    return found if found < month.end else None


def _sound(found: TimeRange) -> bool:
    return EARLIEST <= found.start < found.end <= LATEST


def _single_ranges(text: str, now: datetime) -> list[tuple[int, int, TimeRange]]:
    """Single expressions with their places; what a rule has read no later rule reads again."""
    taken = bytearray(len(text))
    found = []
    for pattern, rule in _RULES:
        for match in pattern.finditer(text):
            start, end = match.span("at") if "at" in match.groupdict() else match.span()
            if any(taken[start:end]):
                continue
            taken[start:end] = b"\1" * (end - start)
            if (read := rule(match, now)) is not None:
                found.append((start, end, read))
    return sorted(found, key=lambda entry: entry[0])


def _ranges_joined(text: str, named: list[tuple[int, int, TimeRange]], now: datetime) -> list[TimeRange]:
    """Expressions with the words around them: since June, between May and July."""
    ranges: list[TimeRange] = []
    opened: tuple[int, TimeRange] | None = None
    for start, end, read in named:
        before = text[max(0, start - 20) : start]
        if opened is not None and _TO.fullmatch(text[opened[0] : start][:20]):
            ranges[-1] = _range_between(opened[1], read)
            opened = None
            continue
        opened = (end, read) if _FROM.search(before) else None
        match = _SINCE.search(before)
        ranges.append(_open_range(match[1].lower(), read, now) if match else read)
    return ranges


def _range_between(first: TimeRange, second: TimeRange) -> TimeRange:
    start = first.start
    while start >= second.end and start.year > EARLIEST.year:  # between November and February: of the year before
        start = start.replace(year=start.year - 1, day=min(start.day, 28))
    return TimeRange(start, second.end)


def _open_range(word: str, read: TimeRange, now: datetime) -> TimeRange:
    if word == "since":
        return TimeRange(read.start, max(now, read.end))
    if word == "after":
        return TimeRange(read.end, now if read.end < now else LATEST)
    return TimeRange(EARLIEST, read.start if word == "before" else read.end)


def _months(year: int, month: int, count: int) -> TimeRange:
    """So many months from one that may lie outside 1 to 12: month 0 is December of the year before."""
    start, end = (datetime(year + m // 12, m % 12 + 1, 1, tzinfo=UTC) for m in (month - 1, month - 1 + count))
    return TimeRange(start, end)


def _whole_unit(unit: str, now: datetime, steps: int) -> TimeRange:
    """The day, week, weekend, month or year that is so many steps from the present one."""
    if unit in ("month", "year"):
        return _months(now.year, now.month + steps, 1) if unit == "month" else _months(now.year + steps, 1, 12)
    first, last = {"day": (0, 1), "week": (0, 7), "weekend": (5, 7)}[unit]
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    start = today + timedelta(days=steps if unit == "day" else 7 * steps - today.weekday())
    return TimeRange(start + timedelta(days=first), start + timedelta(days=last))


def _back(count: int, unit: str, now: datetime) -> TimeRange:
    days = count * {"day": 1, "week": 7, "month": 30, "year": 365}[unit]
    return TimeRange(now - timedelta(days=days), now)


def _months_of(name: str) -> tuple[int, int]:
    """First month and number of months of a month or season."""
    name = name[:3].lower()
    return (_SEASONS[name], 3) if name in _SEASONS else (_MONTH_STARTS.index(name) + 1, 1)


def _date(match: re.Match[str], now: datetime) -> TimeRange | None:
    found = match.groupdict()
    day, month = int(found["day"]), int(found.get("number") or 0)
    if found.get("name"):
        month = _months_of(found["name"])[0]
        if found["name"] in _NEED_CAPITALS and not (found["year"] or found["nth"]):
            return None
    elif found.get("other"):
        month, day = sorted((day, int(found["other"])))
        if month != day <= 12:
            return None
    # Without a year the latest; leap days are at most eight years apart.
    for year in [int(found["year"])] if found["year"] else range(now.year, now.year - 9, -1):
        if 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]:
            start = datetime(year, month, day, tzinfo=UTC)
            if found["year"] or start <= now:
                return TimeRange(start, start + timedelta(days=1))
    return None


def _of_month(match: re.Match[str], now: datetime) -> TimeRange | None:
    for back in range(3):
        month = _months(now.year, now.month - back, 1)
        start = month.start + timedelta(days=int(match["day"]) - 1)
        if int(match["day"]) and start < month.end and start <= now:
            return TimeRange(start, start + timedelta(days=1))
    return None


def _named_months(match: re.Match[str], now: datetime) -> TimeRange:
    month, count = _months_of(match["name"])
    if match.groupdict().get("year"):
        return _months(int(match["year"]), month, count)
    years = [_months(year, month, count) for year in range(now.year - 2, now.year + 2)]
    which = (match["which"] or "in").lower()
    if which == "next":
        return next(year for year in years if year.start > now)
    over = [year for year in years if (year.start if which == "in" else year.end) <= now]
    return years[2] if which == "this" else over[-1]


def _year_range(match: re.Match[str], _: datetime) -> TimeRange:
    return _months(int(match["year"]), 1, 12)


def _weekday_range(match: re.Match[str], now: datetime) -> TimeRange:
    ahead = _DAY_STARTS.index(match["weekday"][:3].lower()) - now.weekday()
    steps = {"on": -(-ahead % 7), "this": ahead, "next": ahead + 7}
    return _whole_unit("day", now, steps.get((match["which"] or "on").lower(), -(-ahead % 7 or 7)))


def _unit_range(match: re.Match[str], now: datetime) -> TimeRange:
    return _whole_unit(match["unit"].lower(), now, {"this": 0, "next": 1}.get(match["which"].lower(), -1))


def _units_back(match: re.Match[str], now: datetime) -> TimeRange:
    found, unit = match.groupdict(), match["unit"].lower()
    word = found.get("count", "a").lower()
    count = int(word) if word.isdecimal() else _COUNT_WORDS[word]
    if "ago" not in found:
        return _back(count, unit, now)
    if word in ("few", "several"):
        return TimeRange(_whole_unit(unit, now, -2 * count).start, _whole_unit(unit, now, 1 - count).end)
    if unit == "week":
        day = _whole_unit("day", now, -7 * count)
        return TimeRange(day.start - timedelta(days=3), day.end + timedelta(days=3))
    return _whole_unit(unit, now, -count)


def _day(match: re.Match[str], now: datetime) -> TimeRange:
    word = match["word"].lower()
    steps = {"day before yesterday": -2, "yesterday": -1, "last": -1, "tomorrow": 1, "tmrw": 1, "tmr": 1}
    day = _whole_unit("day", now, steps.get(word, 0))
    part = "night" if word == "tonight" else match["part"]
    first, last = _HOURS[part.lower()] if part else (0, 24)
    return TimeRange(day.start + timedelta(hours=first), day.start + timedelta(hours=last))


_RULES: tuple[tuple[re.Pattern[str], Rule], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE | re.ASCII), rule)
    for pattern, rule in (
        (rf"(?<![\w/-]){_YEAR}-(?P<number>0[1-9]|1[0-2])-{_DAY}(?![\d/-])", _date),
        (rf"(?<![\w/.-]){_DAY}/(?P<other>\d{{1,2}})/{_YEAR}(?![\d/-])", _date),
        (rf"(?<![\w.,/-]){_DAY}(?P<nth>st|nd|rd|th)?(?: of)? {_MONTH_NAME}{_OF_YEAR}?", _date),
        (rf"\b{_MONTH_NAME} {_DAY}(?P<nth>st|nd|rd|th)?(?:{_OF_YEAR}|(?![\w/%]|[.,:]\d))", _date),
        (rf"{_LEADS_TO_DAY}(?P<at>{_DAY}(?:st|nd|rd|th)){_NO_RANK}", _of_month),
        (rf"\b{_MONTH_OR_SEASON}{_OF_YEAR}", _named_months),
        (rf"(?:{_WHICH_OF}|{_JOINING})(?P<at>{_MONTH_OR_SEASON})", _named_months),
        (rf"(?:{_WHICH_OF}|\bon |\b(?=[a-z]{{3,6}}day\b)){_WEEKDAY_NAME}", _weekday_range),
        (rf"\b{_COUNT}(?P<ago> ago)\b", _units_back),
        (rf"\b(?:last|past|previous) {_COUNT}", _units_back),
        (r"\bpast (?P<unit>day|week|month|year)\b", _units_back),
        (rf"{_WHICH_OF}(?P<unit>weekend|week|month|year)\b", _unit_range),
        (rf"\b(?P<word>day before yesterday|yesterday|today|tonight|tomorrow|tmrw|tmr)\b(?: {_PART_OF_DAY})?", _day),
        (rf"\b(?P<word>this|last) {_PART_OF_DAY}", _day),
        (rf"(?:{_DATING}|\b(?:and|or|to) )(?P<at>{_YEAR}){_NO_COUNT}", _year_range),
    )
)
