// Reinforce memories that were said again, and link each to the source that said so.
// mode: write
// scope: student
// params: institution: str, student_id: str, memories: list, source_id: str, source_kinds: list, source_ref: str, written: int
// returns: memories: int, touched: list of map
MATCH (source:Source {institution: $institution, student_id: $student_id, ref: $source_ref})
WHERE source.kind IN $source_kinds AND coalesce(source.id = $source_id, $source_id IS NULL)
UNWIND $memories AS again
MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: again.id})
USING INDEX memory:Memory(institution, student_id, id)
// Accesses are counted in the graph alone: one after the last access known to the planner stays.
WITH source, memory, again, memory.gravity AS gravity, memory.last_accessed AS used,
     memory.last_accessed > again.properties.last_accessed AS used_since
SET memory += again.properties, memory.written = $written
SET memory.gravity = CASE WHEN used_since THEN gravity ELSE memory.gravity END,
    memory.last_accessed = CASE WHEN used_since THEN used ELSE memory.last_accessed END
MERGE (memory)-[span:FORMED_FROM]->(source)
ON CREATE SET span.start = again.start, span.end = again.end
RETURN count(memory) AS memories,
       collect(DISTINCT {label: 'Memory', id: memory.id, set: keys(again.properties), links: ['FORMED_FROM']}) AS touched
