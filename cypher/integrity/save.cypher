// Save pages and the root of a manifest, and delete the notes that are taken in; a page without content is deleted.
// No row, and nothing is changed, when the root is another one than before.
// mode: write, planned
// scope: student
// params: institution: str, student_id: str, now: datetime, root_before: bytes, root: bytes, pages: list, notes: list of str
// returns: saved: bool
MATCH (student:Student {institution: $institution, id: $student_id})
// Writing the student locks it, so that the root read below is the newest.
SET student.jobs_at = coalesce(student.jobs_at, $now)
WITH student
WHERE student.manifest_root = $root_before OR (student.manifest_root IS NULL AND $root_before IS NULL)
SET student.manifest_root = $root
WITH student
CALL () {
  UNWIND $pages AS page
  WITH page WHERE page.content IS NOT NULL
  MERGE (kept:ManifestPage {institution: $institution, student_id: $student_id, number: page.number})
  SET kept.content = page.content
}
CALL () {
  UNWIND $pages AS page
  WITH page WHERE page.content IS NULL
  MATCH (gone:ManifestPage {institution: $institution, student_id: $student_id, number: page.number})
  DELETE gone
}
CALL () {
  UNWIND $notes AS id
  MATCH (note:ManifestNote {institution: $institution, student_id: $student_id, id: id})
  DELETE note
}
RETURN true AS saved
