// Create memories, each with the source it was formed from; those of a known id stay as they are.
// mode: write
// scope: student
// params: institution: str, student_id: str, memories: list, written: int
// returns: memories: int, touched: list of map
UNWIND $memories AS new
MERGE (memory:Memory {institution: $institution, student_id: $student_id, id: new.properties.id})
ON CREATE SET memory:$(new.label), memory += new.properties, memory.written = $written
// An observed remark is a chat source of another kind in the graph.
WITH new, memory
OPTIONAL MATCH (known:Source {institution: $institution, student_id: $student_id, kind: new.remark, ref: new.source.ref})
WHERE known.id = new.source.id
WITH new, memory, coalesce(known.kind, new.source.kind) AS kind
MERGE (source:Source {institution: $institution, student_id: $student_id, kind: kind, ref: new.source.ref})
ON CREATE SET source += new.source
MERGE (memory)-[span:FORMED_FROM]->(source)
ON CREATE SET span.start = new.start, span.end = new.end
RETURN count(memory) AS memories,
       collect(DISTINCT {label: 'Memory', id: memory.id, made: true, links: ['FORMED_FROM']}) +
       collect(DISTINCT {label: 'Source', id: source.kind + ':' + source.ref, made: true}) AS touched
