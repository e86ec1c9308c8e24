"""Enums of the schema, made of the model's."""

import re
from typing import Any

import strawberry

from graphmem import model
from graphmem.model.enums import Word


def register_enums() -> None:
    """Make every enum with descriptions one of the schema; a second call changes nothing."""
    for enum in Word.__subclasses__():
        if "__strawberry_definition__" in vars(enum):
            continue
        strawberry.enum(enum, name="SurpriseLevel" if enum is model.Level else None, description=plain_value(enum))
        definition: Any = enum.__strawberry_definition__  # type: ignore[attr-defined]
        for value in definition.values:
            value.description = enum[value.name].description


def plain_value(described: type) -> str:
    """Return the docstring of a class on one line, without sections of the specification.

    Examples
    --------
    >>> plain_value(model.Verdict)
    'Verdict on a surprise, given afterwards.'
    """
    return re.sub(r" \(spec [\d., ]+\)", "", " ".join((described.__doc__ or "").split()))
