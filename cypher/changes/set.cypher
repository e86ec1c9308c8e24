// Set properties of nodes that exist; a null value removes its property.
// mode: write, planned
// scope: student
// nodes: Memory, Uncertainty, Companion
// params: institution: str, student_id: str, rows: list
// returns: touched: list of map
UNWIND $rows AS row
MATCH (node:NODE)
USING INDEX node:NODE_INDEX
// Accesses are counted in the graph alone: one after the last access known to the planner stays.
WITH node, row, CASE WHEN node.last_accessed > row.properties.last_accessed
                     THEN {gravity: node.gravity, last_accessed: node.last_accessed} ELSE {} END AS used
SET node += row.properties, node += used
RETURN collect(DISTINCT {label: 'NODE_LABEL', id: row.id, set: keys(row.properties)}) AS touched
