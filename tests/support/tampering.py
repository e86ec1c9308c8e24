"""Writing to the database by hand, past the service."""

from typing import Any

from graphmem.app import Graphmem
from graphmem.model import Who
from tests.support.remembering import asked


async def by_hand(gm: Graphmem, who: Who, statement: str, **params: Any) -> list[dict[str, Any]]:
    """Run a statement as somebody does who has a password of Neo4j; `$i` and `$s` are institution and student."""
    return await gm.graph.execute(statement, {"i": who.institution, "s": who.student_id, **params}, reads=False)


async def noticed(gm: Graphmem, who: Who) -> set[tuple[str, str, str]]:
    """Label, node and field of what was noted not to open."""
    rows = await asked(
        gm,
        who,
        "MATCH (n:TamperedValue {institution: $i, student_id: $s}) RETURN n.label AS l, n.node_id AS n, n.field AS f",
    )
    return {(row["l"], row["n"], row["f"]) for row in rows}
