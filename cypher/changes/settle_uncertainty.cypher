// Set where an uncertainty stands; a null value removes its property. No row where there is none of this id.
// mode: write
// scope: student
// params: institution: str, student_id: str, uncertainty_id: str, properties: map
// returns: id: str
MATCH (doubt:Uncertainty {institution: $institution, student_id: $student_id, id: $uncertainty_id})
SET doubt += $properties
RETURN doubt.id AS id
