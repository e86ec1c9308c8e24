// Give memories their embeddings again, after the embedding model was changed.
// mode: write
// scope: student
// params: institution: str, student_id: str, vectors: list
// returns: memories: int
UNWIND $vectors AS vector
MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: vector.id})
USING INDEX memory:Memory(institution, student_id, id)
SET memory.embedding = vector.embedding
RETURN count(memory) AS memories
