"""A long row of one thing is read in the end: no pattern tries the same characters over and over."""

from datetime import UTC, datetime

import pytest

from graphmem.text.doc import Doc
from graphmem.text.quantities import quantities
from graphmem.text.revision import slot_of
from graphmem.text.time_ranges import day_ahead

CHARACTERS = 4_000
AT = datetime(2026, 1, 5, tzinfo=UTC)
ROWS = (
    " ", "\n", ".", ",", ", ", "; ", ":) ", "-", "--", "/", "'", '"', "(", "_", "@", "#", "1", "1 ", "1/", "1+", "2=",
    "2x", "a", "A", "haha", "lol ", "so ", "and i ", "really ", "I ", "I'm a ", "my ", "not ", "don't ", "because ",
    "on 3 may ", "on friday ", "i want to ", "Ann ", "a.b", "a😀 ", "😀", "\N{COMBINING GRAVE ACCENT}", "ש ", "字",
)  # fmt: skip


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("end", ["", "x?"])
def test_a_long_row_is_read_in_the_end(row: str, end: str) -> None:
    text = (row * CHARACTERS)[:CHARACTERS] + end
    doc = Doc(text)
    assert isinstance(doc.key_phrases(5), tuple)
    assert doc.capitals is not None
    slot_of(doc)
    assert day_ahead(text, AT) is None or "friday" in row
    assert len(list(quantities(text))) <= len(text)
