// Meaning, searched by Neo4j: an index over clear copies of memories.
CREATE VECTOR INDEX bench_copy_by_meaning IF NOT EXISTS FOR (n:BenchCopy) ON (n.embedding)
OPTIONS {indexConfig: {`vector.dimensions`: $dimension, `vector.similarity_function`: 'cosine'}}
