"""What the generated results, inputs and enums are made of."""

from collections.abc import Mapping
from datetime import datetime
from enum import Enum, StrEnum
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, field_serializer
from pydantic.alias_generators import to_camel


class EnumOfNames(StrEnum):
    """Enum of the schema; GraphQL has the name of a value in its place.

    Examples
    --------
    >>> class Size(EnumOfNames):
    ...     VERY_LARGE = "very_large"
    >>> Size("VERY_LARGE") is Size("very_large")
    True
    """

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        return cls.__members__.get(str(value))


class Result(BaseModel):
    """Part of an answer; text that may be somebody's words is not in its `repr`."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

    @field_serializer("*", when_used="json")
    def _as_name(self, value: Any) -> Any:
        return value.name if isinstance(value, Enum) else value


class Given(BaseModel):
    """Input of an operation."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True, extra="forbid")

    @classmethod
    def of(cls, value: object) -> Self:
        """Return the input with the attributes of any object, such as one of `graphmem.model`."""
        return cls.model_validate(value, from_attributes=True)


def as_json(value: Any) -> Any:
    """Return a variable of an operation as GraphQL has it.

    Examples
    --------
    >>> as_json({"at": datetime(2026, 1, 1), "ids": ("a", "b")})
    {'at': '2026-01-01T00:00:00', 'ids': ['a', 'b']}
    """
    if isinstance(value, Given):
        return as_json(value.model_dump(by_alias=True, exclude_none=True))
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {name: as_json(each) for name, each in value.items()}
    return [as_json(each) for each in value] if isinstance(value, list | tuple) else value
