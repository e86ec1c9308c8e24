// Note that concepts were practised in an observation; unknown ones are revealed. Noted once for each source.
// mode: write
// scope: student
// params: institution: str, student_id: str, practised: list, now: datetime
// returns: concept_id: str, touched: list of map
MATCH (student:Student {institution: $institution, id: $student_id})
SET student.overlay_version = coalesce(student.overlay_version, 0) + 1
WITH student
UNWIND $practised AS practice
MATCH (source:Source {institution: $institution, student_id: $student_id, kind: practice.kind, ref: practice.ref})
MATCH (concept:Concept {institution: $institution, id: practice.concept_id})
MERGE (source)-[practised:PRACTISED]->(concept)
ON CREATE SET practised.outcome = practice.outcome
MERGE (student)-[knows:KNOWS]->(concept)
ON CREATE SET knows.attitude = 0.0, knows.familiarity = 0.0, knows.since = $now
RETURN DISTINCT concept.id AS concept_id,
       [{label: 'Source', id: source.kind + ':' + source.ref, links: ['PRACTISED']}, {label: 'Concept', id: concept.id, links: ['KNOWS']}] AS touched
