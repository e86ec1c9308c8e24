// Set where some uncertainties stand; a null value removes its property.
// mode: write
// scope: student
// params: institution: str, student_id: str, uncertainties: list
// returns: settled: int, touched: list of map
UNWIND $uncertainties AS standing
MATCH (doubt:Uncertainty {institution: $institution, student_id: $student_id, id: standing.id})
SET doubt += standing.properties
RETURN count(doubt) AS settled,
       collect(DISTINCT {label: 'Uncertainty', id: doubt.id, set: keys(standing.properties)}) AS touched
