// Keep what is said of a surprise afterwards: the verdict on its memory, and the correction for later thresholds.
// No row without such a memory.
// mode: write
// scope: student
// params: institution: str, student_id: str, memory_id: str, verdict: str, note: bytes, signal: float, level: str
// returns: corrections: int, touched: list of map
MATCH (student:Student {institution: $institution, id: $student_id})
MATCH (memory:Memory {institution: $institution, student_id: $student_id, id: $memory_id})
USING INDEX memory:Memory(institution, student_id, id)
SET student.corrected_signals = (coalesce(student.corrected_signals, []) + [$signal])[-100..],
    student.corrected_levels = (coalesce(student.corrected_levels, []) + [$level])[-100..],
    student.verdicts = (coalesce(student.verdicts, []) + [$verdict])[-100..],
    memory.verdict = $verdict, memory.verdict_note = $note
RETURN size(student.verdicts) AS corrections,
       [{label: 'Student', id: 'student', set: ['corrected_signals', 'corrected_levels', 'verdicts']},
        {label: 'Memory', id: memory.id, set: ['verdict', 'verdict_note']}] AS touched
