// Memories of a student with their sources and edges, and the records of compressions.
MATCH (node:Memory|Compression {institution: $institution, student_id: $student_id})
RETURN node.id AS id, CASE WHEN node:Memory THEN 'Memory' ELSE 'Compression' END AS kind,
       node.content_hash AS hash, node.content AS content, node.nodes_after AS nodes,
       COLLECT { MATCH (node)-[:FORMED_FROM]->(source:Source) RETURN source.ref ORDER BY source.ref } AS refs,
       COLLECT { MATCH (node)-[edge]->(other:Memory) RETURN type(edge) + ' ' + other.id ORDER BY type(edge) + ' ' + other.id } AS edges
ORDER BY id
