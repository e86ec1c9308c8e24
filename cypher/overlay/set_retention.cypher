// Set how a student holds some known concepts, as of the last practice.
// mode: write
// scope: student
// params: institution: str, student_id: str, retentions: list
// returns: concepts: int, touched: list of map
MATCH (student:Student {institution: $institution, id: $student_id})
UNWIND $retentions AS held
MATCH (student)-[knows:KNOWS]->(:Concept {institution: $institution, id: held.id})
SET knows.mastery = held.mastery, knows.stability = held.stability, knows.difficulty = held.difficulty,
    knows.practised_at = held.practised_at, knows.due_at = held.due_at
RETURN count(*) AS concepts,
       collect(DISTINCT {label: 'Concept', id: held.id, links: ['KNOWS']}) AS touched
