// How many effects on memories there were, jobs and turns: a job that took effect twice counts twice.
MATCH (s:Student {institution: $institution})
RETURN sum(s.memory_version) AS effects, sum(COUNT { (:Job {institution: $institution, student_id: s.id}) }) AS jobs,
       sum(COUNT { (f:Source {institution: $institution, student_id: s.id}) WHERE f.kind = 'chat' }) AS turns
