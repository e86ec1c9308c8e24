// Clear copies of memories, for comparison only.
UNWIND $copies AS copy
CREATE (n:BenchCopy {id: copy.id, content: copy.content})
WITH n, copy
CALL db.create.setNodeVectorProperty(n, 'embedding', copy.embedding)
