// Keep uncertainties with the memories they concern; one of a known id stays as it is.
// mode: write
// scope: student
// params: institution: str, student_id: str, uncertainties: list
// returns: sides: int, touched: list of map
UNWIND $uncertainties AS new
MERGE (doubt:Uncertainty {institution: $institution, student_id: $student_id, id: new.properties.id})
ON CREATE SET doubt += new.properties
WITH new, doubt
CALL (new, doubt) {
  UNWIND new.sides AS side
  MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: side.memory_id})
  USING INDEX memory:Memory(institution, student_id, id)
  MERGE (doubt)-[concerns:CONCERNS {side: side.side}]->(memory)
  SET concerns.type = side.type, concerns.to_id = side.to_id
  RETURN count(concerns) AS sides
}
RETURN sum(sides) AS sides, collect(DISTINCT {label: 'Uncertainty', id: doubt.id, made: true, links: ['CONCERNS']}) AS touched
