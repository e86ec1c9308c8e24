// Keep an id for an import until the transaction ends: nobody of this id is enrolled or erased meanwhile.
// No row while somebody of this id is erased; `free` is false where somebody is enrolled.
// mode: write
// scope: student
// params: institution: str, student_id: str
// returns: free: bool
MERGE (erasure:Erasure {institution: $institution, student_id: $student_id})
ON CREATE SET erasure.enrolling = true
WITH erasure WHERE erasure.enrolling
DELETE erasure
RETURN NOT EXISTS { (:Student {institution: $institution, id: $student_id}) } AS free
