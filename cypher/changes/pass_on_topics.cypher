// Link facts and doubts to the topics of the memories that they come from or concern.
// mode: write
// scope: student
// params: institution: str, student_id: str, memory_ids: list of str, fact_ids: list of str, now: datetime
// returns: touched: list of map
CALL () {
  UNWIND $memory_ids AS id
  MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: id})
  USING INDEX memory:Memory(institution, student_id, id)
  MATCH (memory)-[about:ABOUT]->(concept:Concept {institution: $institution})
  CALL (memory) {
    MATCH (memory)-[:FORMED_FROM]->(:Source)<-[:FORMED_FROM]-(learned:Fact {institution: $institution, student_id: $student_id})
    RETURN learned AS told
    UNION
    MATCH (memory)<-[:CONCERNS]-(doubt:Uncertainty {institution: $institution, student_id: $student_id})
    RETURN doubt AS told
  }
  RETURN told, about, concept
  UNION
  UNWIND $fact_ids AS id
  MATCH (told:Fact {institution: $institution, student_id: $student_id, id: id})-[:FORMED_FROM]->(:Source)
        <-[:FORMED_FROM]-(:Memory {institution: $institution, student_id: $student_id})-[about:ABOUT]->(concept:Concept {institution: $institution})
  RETURN told, about, concept
}
MERGE (told)-[relation:ABOUT]->(concept)
ON CREATE SET relation.weight = about.weight, relation.reliability = 'reliable', relation.created_at = $now,
              relation.inferred_by = about.inferred_by
RETURN collect(DISTINCT {label: CASE WHEN told:Fact THEN 'Fact' ELSE 'Uncertainty' END, id: told.id,
                         links: ['ABOUT']}) AS touched
