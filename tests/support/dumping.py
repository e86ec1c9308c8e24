"""Everything that the database holds of an institution, to compare before and after."""

import json

from graphmem.app import Graphmem


async def dump(gm: Graphmem, *institutions: str, manifest: bool = True) -> list[str]:
    """Nodes with their properties and edges, in a fixed order.

    Without what every request may change: tries of passwords, and when a session ends that is used. `manifest=False`:
    also without what is taken into the integrity hash behind earlier requests.
    """
    query = """MATCH (n) WHERE n.institution IN $names AND NOT n:PasswordTry
                 AND ($manifest OR NOT n:ManifestPage|ManifestNote)
               RETURN labels(n) AS labels,
                      CASE WHEN n:OpenSession THEN n {.*, expires_at: null}
                           WHEN n:Student AND NOT $manifest THEN n {.*, manifest_root: null}
                           ELSE properties(n) END AS properties,
                      COLLECT { MATCH (n)-[r]->(m) RETURN [type(r), properties(r), elementId(m)] } AS edges"""
    rows = await gm.graph.execute(query, {"names": list(institutions), "manifest": manifest}, reads=True)
    ordered = [row | {"edges": sorted(row["edges"], key=str)} for row in rows]
    return sorted(json.dumps(row, sort_keys=True, default=str) for row in ordered)
