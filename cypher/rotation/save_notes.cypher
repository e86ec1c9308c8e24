// Set the sealed notes of some concepts that a student knows.
// mode: write
// scope: student
// params: institution: str, student_id: str, notes: list
// returns: saved: int, touched: list of map
MATCH (student:Student {institution: $institution, id: $student_id})
UNWIND $notes AS sealed
MATCH (student)-[knows:KNOWS]->(:Concept {institution: $institution, id: sealed.concept})
SET knows.notes = sealed.notes
RETURN count(*) AS saved,
       collect(DISTINCT {label: 'Concept', id: sealed.concept, links: ['KNOWS']}) AS touched
