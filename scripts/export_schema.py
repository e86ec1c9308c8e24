"""Write the schemas: of the API to api/schema.graphql, of exported students to docs/export.schema.json.

With --check, tell by the exit code whether they are current.
"""

import json
import sys
from pathlib import Path

from graphmem.store.document import document_schema
from graphmem_api.schema import make_schema

ROOT = Path(__file__).parents[1]


def schemas() -> dict[Path, str]:
    """The texts of the files."""
    document = json.dumps(document_schema(), indent=1, sort_keys=True) + "\n"
    return {
        ROOT / "api" / "schema.graphql": make_schema().as_str().rstrip() + "\n",
        ROOT / "docs" / "export.schema.json": document,
    }


def main(*, check: bool) -> bool:
    """Write the files, or compare them; whether they are current now."""
    found = schemas()
    if not check:
        for file, text in found.items():
            file.write_text(text, "utf-8")
    return all(file.exists() and file.read_text("utf-8") == text for file, text in found.items())


if __name__ == "__main__":
    sys.exit(0 if main(check="--check" in sys.argv) else 1)
