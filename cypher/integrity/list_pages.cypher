// Pages of a manifest: some by number, or all of them.
// mode: read, planned
// scope: student
// params: institution: str, student_id: str, numbers: list of int
// returns: number: int, content: bytes
MATCH (page:ManifestPage {institution: $institution, student_id: $student_id})
WHERE page.number IS NOT NULL AND ($numbers IS NULL OR page.number IN $numbers)
RETURN page.number AS number, page.content AS content
