"""Writes the table of settings into README.md, or with --check only tells whether it is up to date."""

import sys
from pathlib import Path

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from graphmem.settings import Settings

README = Path(__file__).parents[1] / "README.md"
BEGIN, END = "<!-- settings: written by scripts/settings_table.py -->\n", "<!-- end of settings -->"


def table() -> str:
    """Every setting with its default and what it means, as a Markdown table."""
    rows = [f"| `{name.upper()}` | {_default(name, field)} | {field.description} |" for name, field in _fields()]
    return "\n".join(["| name | default | meaning |", "|---|---|---|", *rows]) + "\n"


def written(text: str) -> str:
    """A README with the table of today."""
    head, _, rest = text.partition(BEGIN)
    return head + BEGIN + table() + END + rest.partition(END)[2]


def _fields() -> list[tuple[str, FieldInfo]]:
    return list(Settings.model_fields.items())


def _default(name: str, field: FieldInfo) -> str:
    if name == "home":
        return "the user's data folder"
    if field.default is None or field.default is PydanticUndefined:
        return "unset"
    if isinstance(field.default, bool):
        return f"`{field.default}`".lower()
    return f"{field.default:,}" if isinstance(field.default, int | float) else f"`{field.default}`"


if __name__ == "__main__":
    now = README.read_text("utf-8")
    if "--check" in sys.argv:
        sys.exit(0 if written(now) == now else "README.md's settings are out of date: run scripts/settings_table.py")
    README.write_text(written(now), "utf-8")
