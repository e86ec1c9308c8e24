// Record, the first time, whether an institution's students are sealed; those enrolled before that was recorded are.
// mode: write, planned
// scope: institution
// params: institution: str, sealing: str, now: datetime
// returns: sealing: str
WITH CASE
  WHEN EXISTS { MATCH (student:Student {institution: $institution}) WHERE student.id IS NOT NULL } THEN 'on'
  ELSE $sealing
END AS sealing
MERGE (settled:Institution {institution: $institution})
ON CREATE SET settled.created_at = $now, settled.sealing = sealing
RETURN settled.sealing AS sealing
