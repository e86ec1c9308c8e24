"""Write the API's schema to api/schema.graphql; with --check, tell by the exit code whether it is current."""

import sys
from pathlib import Path

from graphmem_api.schema import make_schema

from graphmem.settings import Settings

FILE = Path(__file__).parents[1] / "api" / "schema.graphql"


def main(*, check: bool) -> bool:
    """Write the file, or compare it; whether it is current now."""
    schema = make_schema(Settings()).as_str().rstrip() + "\n"
    if not check:
        FILE.write_text(schema, "utf-8")
    return FILE.exists() and FILE.read_text("utf-8") == schema


if __name__ == "__main__":
    sys.exit(0 if main(check="--check" in sys.argv) else 1)
