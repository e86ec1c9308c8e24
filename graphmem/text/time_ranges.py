"""Time expressions of a question or a message, as ranges of time, by rule, for English (spec 10)."""

import re
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from graphmem.errors import InvalidInput
from graphmem.text.lexicon import MONTHS, WEEKDAYS

EARLIEST, LATEST = datetime(1900, 1, 1, tzinfo=UTC), datetime(2101, 1, 1, tzinfo=UTC)
"""What "before ..." reaches back to, and "after ..." on to where that lies ahead."""


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
_DAY, _YEAR = r"(?P<day>\d{1,2})", r"(?P<year>19\d\d|20\d\d|2100)\b"
_OF_YEAR = rf"(?:,? (?:of )?{_YEAR})"
_WHICH_OF = r"\b(?P<which>last|this|past|next|previous) "
_COUNT = rf"(?:a )?(?P<count>\d{{1,3}}|{'|'.join(_COUNT_WORDS)})(?: of)? (?P<unit>day|week|month|year)s?\b"
_PART_OF_DAY = rf"(?P<part>{'|'.join(_HOURS)})\b"
_NO_COUNT = r"(?=$|[^\w ,/.-]|[,.-](?!\d)| (?:and|or|to|until|till|did|was|were|had|what|when|where|who|i|we|he|she)\b)"
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
        if not (found["year"] or found["nth"] or found["name"][0].isupper()):
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
    steps = {"day before yesterday": -2, "yesterday": -1, "last": -1, "tomorrow": 1}
    day = _whole_unit("day", now, steps.get(word, 0))
    part = "night" if word == "tonight" else match["part"]
    first, last = _HOURS[part.lower()] if part else (0, 24)
    return TimeRange(day.start + timedelta(hours=first), day.start + timedelta(hours=last))


_RULES: tuple[tuple[re.Pattern[str], Rule], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE | re.ASCII), rule)
    for pattern, rule in (
        (rf"(?<![\w/-]){_YEAR}-(?P<number>0[1-9]|1[0-2])-{_DAY}(?![\d/-])", _date),
        (rf"(?<![\w/.-]){_DAY}/(?P<other>\d{{1,2}})/{_YEAR}(?![\d/-])", _date),
        (rf"(?<![\w.,/-]){_DAY}(?P<nth>(?:st|nd|rd|th)(?: of)?)? {_MONTH_NAME}{_OF_YEAR}?", _date),
        (rf"\b{_MONTH_NAME} {_DAY}(?P<nth>st|nd|rd|th)?(?:{_OF_YEAR}|(?![\w/%]|[.,:]\d))", _date),
        (rf"\b{_MONTH_OR_SEASON}{_OF_YEAR}", _named_months),
        (rf"(?:{_WHICH_OF}|{_JOINING})(?P<at>{_MONTH_OR_SEASON})", _named_months),
        (rf"(?:{_WHICH_OF}|\bon |\b(?=[a-z]{{3,6}}day\b)){_WEEKDAY_NAME}", _weekday_range),
        (rf"\b{_COUNT}(?P<ago> ago)\b", _units_back),
        (rf"\b(?:last|past|previous) {_COUNT}", _units_back),
        (r"\bpast (?P<unit>day|week|month|year)\b", _units_back),
        (rf"{_WHICH_OF}(?P<unit>weekend|week|month|year)\b", _unit_range),
        (rf"\b(?P<word>day before yesterday|yesterday|today|tonight|tomorrow)\b(?: {_PART_OF_DAY})?", _day),
        (rf"\b(?P<word>this|last) {_PART_OF_DAY}", _day),
        (rf"(?:{_DATING}|\b(?:and|or|to) )(?P<at>{_YEAR}){_NO_COUNT}", _year_range),
    )
)
