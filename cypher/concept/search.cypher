// Concepts of an institution's world that hold some words, are like them by full text, or near to them in meaning.
// mode: read
// scope: institution
// params: institution: str, query: str, words: str, vector: list, domain: str, limit: int
// returns: concept: list of [id: str, name: str, aliases: list, description: str or null, domain: str or null, grade: int or null, misconceptions: list or null], holds: bool, lexical: float, similarity: float
CALL () {
  CALL db.index.fulltext.queryNodes('concept_by_text', $query, {limit: $limit}) YIELD node, score
  WHERE node.institution = $institution
  RETURN node AS found, false AS held, score AS rank, 0.0 AS near
  UNION ALL
  MATCH (node:Concept) USING TEXT INDEX node:Concept(words)
  WHERE node.words CONTAINS $words AND node.institution = $institution
    AND ($domain IS NULL OR node.domain = $domain)
  WITH node ORDER BY size(node.name), node.id LIMIT $limit
  RETURN node AS found, true AS held, 0.0 AS rank, 0.0 AS near
  UNION ALL
  MATCH (node:Concept)
    SEARCH node IN (VECTOR INDEX concept_by_meaning FOR $vector WHERE node.institution = $institution LIMIT $limit)
    SCORE AS score
  RETURN node AS found, false AS held, 0.0 AS rank, score AS near
}
WITH found, held, rank, near WHERE $domain IS NULL OR found.domain = $domain
WITH found AS concept, max(held) AS holds, max(rank) AS lexical, max(near) AS similarity
RETURN [concept.id, concept.name, concept.aliases, concept.description, concept.domain,
        concept.grade, concept.misconceptions] AS concept, holds, lexical, similarity
