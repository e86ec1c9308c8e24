// Set the embeddings of concepts of an institution's world; of one whose words changed meanwhile it stays away.
// mode: write
// scope: institution
// params: institution: str, embeddings: list
// returns: concepts: int
UNWIND $embeddings AS given
MATCH (concept:Concept {institution: $institution, id: given.id}) WHERE concept.words = given.words
SET concept.embedding = given.embedding
RETURN count(*) AS concepts
