"""graphmem: an AI tutor's lasting memory of each student, kept as a graph in Neo4j."""
