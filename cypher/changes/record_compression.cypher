// Keep what a compression did.
// mode: write
// scope: student
// params: institution: str, student_id: str, compression: map
// returns: id: str, touched: list of map
MATCH (student:Student {institution: $institution, id: $student_id})
MERGE (compression:Compression {institution: $institution, student_id: $student_id, id: $compression.id})
ON CREATE SET compression += $compression
MERGE (student)-[:COMPRESSED]->(compression)
RETURN compression.id AS id,
       [{label: 'Compression', id: compression.id, made: true, links: ['COMPRESSED']}] AS touched
