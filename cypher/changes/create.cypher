// Create nodes; one of a known id stays as it is.
// mode: write, planned
// scope: student
// nodes: Memory, Uncertainty
// params: institution: str, student_id: str, rows: list
// returns: touched: list of map
UNWIND $rows AS row
MERGE (node:NODE)
ON CREATE SET node:$(row.labels), node += row.properties
RETURN collect(DISTINCT {label: 'NODE_LABEL', id: row.id, made: true}) AS touched
