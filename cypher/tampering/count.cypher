// Count the sealed values of all students that did not open.
// mode: read
// scope: service
// params:
// returns: values: int, students: int, newest: datetime
MATCH (noticed:TamperedValue)
RETURN count(noticed) AS values, count(DISTINCT [noticed.institution, noticed.student_id]) AS students,
       max(noticed.at) AS newest
