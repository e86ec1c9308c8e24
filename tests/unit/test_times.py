"""Time expressions: each form, what is no time, order, odd texts."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.errors import InvalidInput
from graphmem.text.time_ranges import EARLIEST, LATEST, TimeRange, day_ahead, time_ranges

NOW = datetime(2023, 8, 2, 9, 30, tzinfo=UTC)  # a Wednesday


def shown(text: str, now: datetime = NOW) -> list[str]:
    return [f"{r.start:%Y-%m-%dT%H}/{r.end:%Y-%m-%dT%H}".replace("T00", "") for r in time_ranges(text, now)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What did I say today?", "2023-08-02/2023-08-03"),
        ("yesterday", "2023-08-01/2023-08-02"),
        ("Yesterday evening we met", "2023-08-01T17/2023-08-02"),
        ("the day before yesterday", "2023-07-31/2023-08-01"),
        ("this morning", "2023-08-02T05/2023-08-02T12"),
        ("last night", "2023-08-01T18/2023-08-02T06"),
        ("tonight", "2023-08-02T18/2023-08-03T06"),
        ("tomorrow", "2023-08-03/2023-08-04"),
        ("last week", "2023-07-24/2023-07-31"),
        ("this week", "2023-07-31/2023-08-07"),
        ("past week", "2023-07-26T09/2023-08-02T09"),
        ("last weekend", "2023-07-29/2023-07-31"),
        ("past weekend", "2023-07-29/2023-07-31"),
        ("this weekend", "2023-08-05/2023-08-07"),
        ("last month", "2023-07-01/2023-08-01"),
        ("next month", "2023-09-01/2023-10-01"),
        ("this year", "2023-01-01/2024-01-01"),
        ("last year", "2022-01-01/2023-01-01"),
        ("the last three months", "2023-05-04T09/2023-08-02T09"),
        ("in the past 10 days", "2023-07-23T09/2023-08-02T09"),
        ("on Monday", "2023-07-31/2023-08-01"),
        ("last Monday", "2023-07-31/2023-08-01"),
        ("on Wednesday", "2023-08-02/2023-08-03"),
        ("last Wednesday", "2023-07-26/2023-07-27"),
        ("this Friday", "2023-08-04/2023-08-05"),
        ("next Wednesday", "2023-08-09/2023-08-10"),
        ("last Fri", "2023-07-28/2023-07-29"),
        ("3 days ago", "2023-07-30/2023-07-31"),
        ("a few days ago", "2023-07-27/2023-08-01"),
        ("two weeks ago", "2023-07-16/2023-07-23"),
        ("a couple of months ago", "2023-06-01/2023-07-01"),
        ("8 months ago", "2022-12-01/2023-01-01"),
        ("a year ago", "2022-01-01/2023-01-01"),
        ("what did I plan for it on the 14th?", "2023-07-14/2023-07-15"),
        ("by the 31st", "2023-07-31/2023-08-01"),
        ("25 july", "2023-07-25/2023-07-26"),
    ],
)
def test_seen_from_now(text: str, expected: str) -> None:
    assert shown(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("in May", "2023-05-01/2023-06-01"),
        ("in may", "2023-05-01/2023-06-01"),
        ("in August", "2023-08-01/2023-09-01"),
        ("last August", "2022-08-01/2022-09-01"),
        ("in September", "2022-09-01/2022-10-01"),
        ("next September", "2023-09-01/2023-10-01"),
        ("this September", "2023-09-01/2023-10-01"),
        ("May 2021", "2021-05-01/2021-06-01"),
        ("Sept. 2021", "2021-09-01/2021-10-01"),
        ("8 May 2023", "2023-05-08/2023-05-09"),
        ("May 8, 2023", "2023-05-08/2023-05-09"),
        ("May 8th", "2023-05-08/2023-05-09"),
        ("the 8th of may", "2023-05-08/2023-05-09"),
        ("on 3 August", "2022-08-03/2022-08-04"),
        ("29 February", "2020-02-29/2020-03-01"),
        ("2023-05-08", "2023-05-08/2023-05-09"),
        ("5/25/2023", "2023-05-25/2023-05-26"),
        ("25/5/2023", "2023-05-25/2023-05-26"),
        ("5/5/2023", "2023-05-05/2023-05-06"),
        ("in 2021", "2021-01-01/2022-01-01"),
        ("Where did we go in 1999, really?", "1999-01-01/2000-01-01"),
        ("last summer", "2022-06-01/2022-09-01"),
        ("this summer", "2023-06-01/2023-09-01"),
        ("in the winter", "2022-12-01/2023-03-01"),
        ("the fall of 2021", "2021-09-01/2021-12-01"),
    ],
)
def test_named_times(text: str, expected: str) -> None:
    assert shown(text) == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("since June", "2023-06-01/2023-08-02T09"),
        ("since last week", "2023-07-24/2023-08-02T09"),
        ("since this week", "2023-07-31/2023-08-07"),
        ("before 2022", "1900-01-01/2022-01-01"),
        ("after May 2023", "2023-06-01/2023-08-02T09"),
        ("after tomorrow", "2023-08-04/2101-01-01"),
        ("until March", "1900-01-01/2023-04-01"),
        ("between May and July", "2023-05-01/2023-08-01"),
        ("from November to February", "2022-11-01/2023-03-01"),
        ("between 2019 and 2021", "2019-01-01/2022-01-01"),
        ("from 2 May to 5 June", "2023-05-02/2023-06-06"),
        ("between May and July 2021", "2021-05-01/2021-08-01"),
    ],
)
def test_open_and_joined_times(text: str, expected: str) -> None:
    assert shown(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "May I ask something?",
        "It may rain",
        "we may 5 of us",
        "only 5 may enter",
        "April said hi",
        "We march on",
        "I fall often",
        "a spring in a clock",
        "in 2000 steps",
        "It costs 2020 euros",
        "5/8/2023",
        "31 April 2023",
        "13/14/2023",
        "2023-13-01",
        "2023-02-30",
        "999 years ago",
        "room 2023-05",
        "I sat in the sun",
        "0/0/2023",
    ],
)
def test_no_time(text: str) -> None:
    assert time_ranges(text, NOW) == ()


def test_several_times_in_their_order_none_twice() -> None:
    text = "Was it in June, yesterday or last week? I think yesterday."
    assert shown(text) == ["2023-06-01/2023-07-01", "2023-08-01/2023-08-02", "2023-07-24/2023-07-31"]


def test_lines_and_blanks_do_not_matter() -> None:
    assert shown("two\nweeks   ago") == shown("two weeks ago")


def test_a_day_is_one_of_the_clock_of_now() -> None:
    early = datetime(2023, 8, 2, 1, tzinfo=timezone(timedelta(hours=5)))
    assert shown("today", early) == ["2023-08-02/2023-08-03"]
    (today,) = time_ranges("today", early)
    assert today.start == datetime(2023, 8, 1, 19, tzinfo=UTC)


@pytest.mark.parametrize(
    "now", [NOW.replace(tzinfo=None), datetime(1899, 1, 1, tzinfo=UTC), datetime.max.replace(tzinfo=UTC)]
)
def test_a_present_that_cannot_be(now: datetime) -> None:
    with pytest.raises(InvalidInput, match="time zone"):
        time_ranges("today", now)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("the test is tmrw", "2023-08-03"),
        ("remind me on wednesday", "2023-08-09"),
        ("test on thursday, cake on saturday", "2023-08-05"),
        ("it got pushed to the 28th", "2023-08-28"),
        ("by Friday the 1st", "2023-09-01"),
        ("due 25 july", "2024-07-25"),
        ("we move to 3 May 2024", "2024-05-03"),
        ("I am nervous, we failed the one on monday", None),
        ("on friday we lost the match", None),
        ("every monday I swim", None),
        ("2 days ago", None),
        ("in 2025", None),
        ("I came in the 1st place", None),
    ],
)
def test_day_ahead(text: str, day: str | None) -> None:
    found = day_ahead(text, NOW)
    assert (found and f"{found:%Y-%m-%d}") == day


WORDS = st.sampled_from(
    [
        "in",
        "on",
        "since",
        "before",
        "after",
        "between",
        "and",
        "to",
        "from",
        "until",
        "last",
        "this",
        "next",
        "past",
        "the",
        "a",
        "few",
        "two",
        "3",
        "12",
        "31",
        "999",
        "2020",
        "2100",
        "1900",
        "day",
        "days",
        "weeks",
        "months",
        "years",
        "ago",
        "May",
        "march",
        "Feb",
        "29",
        "February",
        "Monday",
        "sat",
        "summer",
        "fall",
        "weekend",
        "year",
        "morning",
        "night",
        "8th",
        ",",
        "2023-05-08",
        "5/25/2023",
        "yesterday",
        "today",
        "tomorrow",
    ]
)
TIMES = st.datetimes(datetime(1901, 1, 2), datetime(2100, 12, 30), timezones=st.just(UTC))  # noqa: DTZ001


def check(found: tuple[TimeRange, ...]) -> None:
    assert all(EARLIEST <= r.start < r.end <= LATEST for r in found)
    assert all(r.start.tzinfo is UTC and r.end.tzinfo is UTC for r in found)
    assert len(set(found)) == len(found)


@given(st.text(), TIMES)
def test_any_text(text: str, now: datetime) -> None:
    check(time_ranges(text, now))


@given(st.lists(WORDS, max_size=12).map(" ".join), TIMES)
def test_any_words_of_time(text: str, now: datetime) -> None:
    check(time_ranges(text, now))


@pytest.mark.parametrize("piece", ["the ", "a ", "9", "in the ", "last ", "5/", "May 8, ", "from May to June ", " "])
def test_long_texts_are_read_to_their_end(piece: str) -> None:
    text = (piece * 32_000)[:31_980] + " . yesterday"
    assert time_ranges("yesterday", NOW)[0] in time_ranges(text, NOW)
