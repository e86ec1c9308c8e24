// Link memories to the sources that they come from; a source is created where it is not known.
// mode: write, planned
// scope: student
// params: institution: str, student_id: str, rows: list
// returns: touched: list of map
UNWIND $rows AS row
MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: row.id})
USING INDEX memory:Memory(institution, student_id, id)
// An observed remark is a chat source of another kind in the graph.
OPTIONAL MATCH (known:Source {institution: $institution, student_id: $student_id, kind: row.remark, ref: row.source.ref})
WHERE known.id = row.source.id
WITH row, memory, coalesce(known.kind, row.source.kind) AS kind
MERGE (source:Source {institution: $institution, student_id: $student_id, kind: kind, ref: row.source.ref})
ON CREATE SET source += row.source
MERGE (memory)-[span:FORMED_FROM]->(source)
ON CREATE SET span.start = row.start, span.end = row.end
RETURN collect(DISTINCT {label: 'Memory', id: memory.id, links: ['FORMED_FROM']}) +
       collect(DISTINCT {label: 'Source', id: source.kind + ':' + source.ref, made: true}) AS touched
