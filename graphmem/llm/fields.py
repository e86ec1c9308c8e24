"""Fields of the answers of a language model, read tolerantly: lists are cut, long texts shortened, numbers read.

Schemas are lean and strict: every field is asked for, none has a default, and bounds are not sent. What comes is mended
where it can be, so that nobody waits for a second request and a wrong side field costs nothing but itself.
"""

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator

from graphmem.text.normalize import abridged, cleaned_quote

_DIGITS = re.compile(r"\d+")


def line(value: Any, most: int = 500) -> str:
    """Return a text on one line, at most so many characters; empty for a value that is no text."""
    text = " ".join(cleaned_quote(value).split()) if isinstance(value, str) else ""
    return text if len(text) <= most else abridged(text, most - len(" […]"))


def share(value: Any) -> float | None:
    """A share in [0, 1], from a number, a percentage or a text of either; None where it is none."""
    text = value.strip().removesuffix("%") if isinstance(value, str) else value
    try:
        number = float(text) if not isinstance(text, bool) else -1.0
    except (TypeError, ValueError):
        return None
    if not 0 <= number <= 100:
        return None
    return number / 100 if number > 1 else number


def bounded(most: int) -> AfterValidator:
    """Shortens a text and refuses an empty one."""

    def read(text: str) -> str:
        if not (cleaned := cleaned_quote(text)):
            raise ValueError("must not be empty")
        return cleaned if len(cleaned) <= most else abridged(cleaned, most - len(" […]"))

    return AfterValidator(read)


def filled(model: type[BaseModel], value: Any) -> Any:
    """An object with every field of a schema, absent ones None."""
    return dict.fromkeys(model.model_fields) | value if isinstance(value, dict) else value


def _as_texts(value: Any) -> list[str]:
    listed = value if isinstance(value, list) else [] if value is None else [value]
    texts = (" ".join(map(str, each.values())) if isinstance(each, dict) else str(each) for each in listed)
    return [text for text in map(line, texts) if text]


def _as_numbers(value: Any) -> list[int]:
    return [int(number) for text in _as_texts(value) for number in _DIGITS.findall(text)[:1] if len(number) < 9]


TextList = Annotated[list[str], BeforeValidator(_as_texts)]
"""A list of texts; one text stands for a list, an object for its values."""
NumberList = Annotated[list[int], BeforeValidator(_as_numbers)]
