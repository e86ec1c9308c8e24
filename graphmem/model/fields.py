"""Metadata of the fields of a dataclass: what each is, its unit, and how the graph stores it (spec 2)."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Unit(StrEnum):
    """Unit or range of a field's values."""

    NONE = ""
    SHARE = "0 to 1"
    BALANCE = "-1 to 1"
    SCORE = "0 to 1000"
    URGENCY = "1 to 3"
    COUNT = "0 or more"
    UTC = "UTC"
    TOLERANCE = "0.2 to 0.8"
    BITS = "bits"
    NAME = "1 to 500 characters"


@dataclass(frozen=True)
class Placement:
    """How the graph stores a field.

    name : property that holds it; empty for the field's own name
    sealed : it is encrypted with the student's key
    shared : several fields are sealed as one JSON map in the property `name`
    apart : it is no property: a label, an edge, or computed
    """

    name: str = ""
    sealed: bool = False
    shared: bool = False
    apart: bool = False


UNSTORED = Placement(apart=True)
SEALED = Placement(sealed=True)


def documented(description: str, unit: Unit = Unit.NONE, stored: Placement | None = None) -> dict[str, Any]:
    """Return the metadata of a field, for `dataclasses.field(metadata=...)`.

    Parameters
    ----------
    description : one sentence for readers of the API
    unit : of its values; names of nodes and other texts have none
    stored : None for a property of the field's own name, in clear

    Examples
    --------
    >>> documented("How sure it is, 0 to 1.", Unit.SHARE)["unit"].value
    '0 to 1'
    """
    return {"description": description, "unit": unit, "stored": stored or Placement()}
