"""The schema's file, and that everything in it says what it is."""

import re
import subprocess
import sys
from pathlib import Path

from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLObjectType,
    build_schema,
    get_named_type,
    is_introspection_type,
)

ROOT = Path(__file__).parents[2]
SCHEMA = build_schema((ROOT / "api" / "schema.graphql").read_text("utf-8"))
# What is counted or measured says from where to where.
RANGE = re.compile(r"\d|0 or more|token")


def test_the_file_is_current() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "export_schema.py"), "--check"]
    assert subprocess.run(command, check=False).returncode == 0


def test_everything_is_described_and_every_number_has_a_range() -> None:
    undescribed, boundless = [], []
    for name, type_ in SCHEMA.type_map.items():
        if is_introspection_type(type_) or not isinstance(
            type_, GraphQLEnumType | GraphQLInputObjectType | GraphQLObjectType
        ):
            continue
        parts = {name: type_}
        if isinstance(type_, GraphQLEnumType):
            parts |= {f"{name}.{value}": found for value, found in type_.values.items()}
        else:
            parts |= {f"{name}.{field}": found for field, found in type_.fields.items()}
            for field, found in type_.fields.items():
                parts |= {f"{name}.{field}({arg})": a for arg, a in getattr(found, "args", {}).items()}
        for place, part in parts.items():
            text = part.description or ""
            assert "(spec" not in text, place
            if not text:
                undescribed.append(place)
            elif "." in place and _is_number(part) and not RANGE.search(text):
                boundless.append((place, text))
    assert undescribed == []
    assert boundless == []


def _is_number(part: object) -> bool:
    type_ = getattr(part, "type", None)
    return type_ is not None and get_named_type(type_).name in ("Int", "Float")
