// The copies nearest in meaning and those nearest in words, fused by rank, in one statement.
CALL () {
  CALL db.index.vector.queryNodes('bench_copy_by_meaning', $limit, $vector) YIELD node, score
  WITH node ORDER BY score DESC
  WITH collect(node) AS found
  UNWIND range(0, size(found) - 1) AS place
  RETURN found[place] AS copy, 1.0 / (61 + place) AS share
  UNION ALL
  CALL db.index.fulltext.queryNodes('bench_copy_by_words', $words, {limit: $limit}) YIELD node, score
  WITH node ORDER BY score DESC
  WITH collect(node) AS found
  UNWIND range(0, size(found) - 1) AS place
  RETURN found[place] AS copy, 1.0 / (61 + place) AS share
}
WITH copy, sum(share) AS score ORDER BY score DESC LIMIT $limit
RETURN copy.id AS id, copy.content AS content, score
