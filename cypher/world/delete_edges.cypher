// Delete edges of an institution's world.
// mode: write
// scope: institution
// params: institution: str, edges: list
// returns: edges: int
UNWIND $edges AS edge
MATCH (:Concept {institution: $institution, id: edge.from_id})
      -[relation:PREREQUISITE_OF|PART_OF|RELATED_TO {id: edge.id}]->
      (:Concept {institution: $institution, id: edge.to_id})
WHERE type(relation) = edge.type
DELETE relation
RETURN count(*) AS edges
