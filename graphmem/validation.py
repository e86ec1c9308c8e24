"""Input validation: every rejection of a malformed value is defined here (spec 19)."""

import re
from datetime import UTC, datetime, timedelta
from unicodedata import category
from zoneinfo import ZoneInfo, available_timezones

from graphmem.errors import InvalidInput

MESSAGE_LIMIT = 32_000
"""Characters of one message."""

PAGE_SIZE = 200
"""Most items of a page, and most things that are sent at once."""

PASSWORD_MIN = 8
"""Characters of the shortest password."""

CLOCK_SKEW = 300.0
"""Seconds a message's time may lie in the future."""

ID_LIMIT = 128
PASSWORD_LIMIT = 1000
# Control characters other than tab, line feed and carriage return; surrogates are half a character.
_FORBIDDEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_SHAPELESS = {"Cf", "Cn", "Co", "Zl", "Zp", "Zs"}
"""Unicode categories of characters without a shape of their own; of them an id may have the plain blank."""
# Letters and marks that show nothing: fillers, joiners, variation selectors.
_BLANK = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")
_EARLIEST = 1900
_LATEST = 2100


def checked_id(name: str, value: str) -> str:
    """An id of the app's own: 1 to 128 characters without control characters and outer spaces.

    Examples
    --------
    >>> checked_id("turnId", "turn-1")
    'turn-1'
    >>> checked_id("turnId", " ")
    Traceback (most recent call last):
    graphmem_client.errors.InvalidInput: turnId must have 1 to 128 characters, without spaces around it.
    """
    if not 1 <= len(value) <= ID_LIMIT or value != value.strip():
        raise InvalidInput(f"{name} must have 1 to {ID_LIMIT} characters, without spaces around it.")
    if _FORBIDDEN.search(value) or "\n" in value or "\r" in value or "\t" in value:
        raise InvalidInput(f"{name} must not contain control characters.")
    return value


def page_cursor(at: datetime, item_id: str) -> str:
    """Return where the page behind an item begins, by its time and id.

    Examples
    --------
    >>> cursor = page_cursor(datetime(2026, 1, 15, tzinfo=UTC), "memory-1")
    >>> checked_cursor(cursor) == (datetime(2026, 1, 15, tzinfo=UTC), "memory-1")
    True
    """
    return f"{at.isoformat()}/{item_id}"


def checked_cursor(cursor: str) -> tuple[datetime, str]:
    """Return the time and id behind which a page begins, as `page_cursor` has them.

    Raises
    ------
    InvalidInput    it is none
    """
    at, _, item_id = cursor.partition("/")
    try:
        return datetime.fromisoformat(at).astimezone(UTC), checked_id("after", item_id)
    except (ValueError, OverflowError, OSError) as e:
        raise InvalidInput("after is not the `next` of a page.") from e


def checked_count(name: str, value: int, most: int) -> int:
    """Return a number of things that are asked for, 1 to `most`.

    Examples
    --------
    >>> checked_count("first", 0, 200)
    Traceback (most recent call last):
    graphmem_client.errors.InvalidInput: first must lie between 1 and 200.
    """
    if not 1 <= value <= most:
        raise InvalidInput(f"{name} must lie between 1 and {most}.")
    return value


def checked_share(name: str, value: float) -> float:
    """Return a number in [0, 1].

    Examples
    --------
    >>> checked_share("importance", float("nan"))
    Traceback (most recent call last):
    graphmem_client.errors.InvalidInput: importance must lie between 0 and 1.
    """
    if not 0.0 <= value <= 1.0:
        raise InvalidInput(f"{name} must lie between 0 and 1.")
    return value


def checked_new_id(name: str, value: str, *, in_paths: bool = True) -> str:
    """An id of something that is to be made: as `checked_id`, and each of its characters is seen.

    With `in_paths` it is none of `.` and `..` and has no slashes, so that no address or file name means another place.

    Examples
    --------
    >>> checked_new_id("ref", "lessons/5", in_paths=False)
    'lessons/5'
    >>> checked_new_id("studentId", "lessons/5")
    Traceback (most recent call last):
    graphmem_client.errors.InvalidInput: studentId must not be . or .. and must not contain / or \\.
    """
    checked_id(name, value)
    if any(category(each) in _SHAPELESS and each != " " for each in value) or _BLANK.search(value):
        raise InvalidInput(f"{name} must not contain invisible characters or those that turn the direction of writing.")
    if in_paths and (value in (".", "..") or "/" in value or "\\" in value):
        raise InvalidInput(f"{name} must not be . or .. and must not contain / or \\.")
    return value


def checked_text(name: str, value: str, limit: int) -> str:
    """A text: not blank, at most `limit` characters, no control characters but tabs and line ends.

    Examples
    --------
    >>> checked_text("text", "I have a dog.", 100)
    'I have a dog.'
    """
    if not value.strip():
        raise InvalidInput(f"{name} is empty: send what was said.")
    if len(value) > limit:
        raise InvalidInput(f"{name} has {len(value)} characters: at most {limit} are taken.")
    if _FORBIDDEN.search(value):
        raise InvalidInput(f"{name} contains control characters: remove them.")
    return value


def checked_password(name: str, value: str, shortest: int) -> str:
    """A password of `shortest` to 1,000 whole characters.

    Examples
    --------
    >>> checked_password("password", "long enough", shortest=8)
    'long enough'
    """
    if not shortest <= len(value) <= PASSWORD_LIMIT:
        raise InvalidInput(f"{name} must have {shortest} to {PASSWORD_LIMIT} characters.")
    if _SURROGATE.search(value):
        raise InvalidInput(f"{name} contains half a character: send whole ones.")
    return value


def checked_time(name: str, value: datetime, now: datetime, skew: float, zone: str | None = None) -> datetime:
    """A moment that does not lie in the future, in the writer's time zone and to the millisecond.

    Parameters
    ----------
    name : str
    value, now : datetime
    skew : float >= 0, seconds the app's clock may be ahead
    zone : IANA name of the student's time zone, for what has no offset or is in UTC, which tells no writer's day

    Raises
    ------
    InvalidInput    it has no offset and there is no zone, or it lies in the future, or before 1900
    """
    if value.tzinfo is None and zone is None:
        raise InvalidInput(
            f"{name} has no time zone: write it like 2026-01-15T09:30:00Z, or give the student a time zone."
        )
    if value.year < _EARLIEST:
        raise InvalidInput(f"{name} lies before {_EARLIEST}.")
    if value.year > now.year + 1:
        raise InvalidInput(f"{name} lies in the future: send the time at which the message was written.")
    if zone is not None and value.tzinfo is None:
        value = value.replace(tzinfo=ZoneInfo(zone))
    elif zone is not None and not value.utcoffset():
        value = value.astimezone(ZoneInfo(zone))
    if value > now + timedelta(seconds=skew):
        raise InvalidInput(f"{name} lies in the future: send the time at which the message was written.")
    return value.replace(microsecond=value.microsecond // 1000 * 1000)


def in_zone(at: datetime, zone: str | None) -> datetime:
    """A moment in a time zone by name where its offset is that of the zone: the next days may have another one.

    Examples
    --------
    >>> evening = datetime.fromisoformat("2026-10-24T23:30:00+02:00")
    >>> (in_zone(evening, "Europe/Berlin") + timedelta(days=1)).isoformat()
    '2026-10-25T23:30:00+01:00'
    >>> in_zone(evening, "Asia/Tokyo") == in_zone(evening, None) == evening
    True
    """
    local = at if zone is None else at.astimezone(ZoneInfo(zone))
    return local if local.utcoffset() == at.utcoffset() else at


def checked_time_zone(name: str, value: str) -> str:
    """The IANA name of a time zone, such as `Europe/Berlin`.

    Raises
    ------
    InvalidInput    it is none

    Examples
    --------
    >>> checked_time_zone("timeZone", "Europe/Berlin")
    'Europe/Berlin'
    >>> checked_time_zone("timeZone", "Berlin")
    Traceback (most recent call last):
    graphmem_client.errors.InvalidInput: timeZone is no time zone of the IANA list: write it like Europe/Berlin.
    """
    if value not in available_timezones():
        raise InvalidInput(f"{name} is no time zone of the IANA list: write it like Europe/Berlin.")
    return value


def checked_as_of(value: datetime | None, name: str = "asOf") -> datetime | None:
    """The moment of which something is asked, in the years 1901 to 2100; None means now.

    Raises
    ------
    InvalidInput    it has no offset or lies in another year

    Examples
    --------
    >>> checked_as_of(datetime(2026, 1, 15))
    Traceback (most recent call last):
    graphmem_client.errors.InvalidInput: asOf has no time zone: write it like 2026-01-15T09:30:00Z.
    """
    if value is not None and value.tzinfo is None:
        raise InvalidInput(f"{name} has no time zone: write it like 2026-01-15T09:30:00Z.")
    # In other years a time zone could carry it past the end of the calendar.
    if value is not None and not _EARLIEST < value.year <= _LATEST:
        raise InvalidInput(f"{name} must lie in the years {_EARLIEST + 1} to {_LATEST}.")
    return value
