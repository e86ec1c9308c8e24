// Set how much inconsistency a student's companion tolerates.
// mode: write
// scope: student
// params: institution: str, student_id: str, tolerance: float
// returns: tolerance: float, touched: list of map
MATCH (companion:Companion {institution: $institution, student_id: $student_id})
SET companion.tolerance = $tolerance
RETURN companion.tolerance AS tolerance,
       [{label: 'Companion', id: 'companion', set: ['tolerance']}] AS touched
