"""Scenes of the demo."""

from datetime import UTC, datetime

from graphmem.commands.demo import scenes, shipped_scenes, told_scenes
from graphmem.samples import sample_dialogues, written_story

NOW = datetime(2026, 1, 15, 12, tzinfo=UTC)


def test_the_story_is_of_one_student_a_week_apart_and_the_real_dialogues_follow() -> None:
    first, second, third = told_scenes(written_story(), NOW)
    assert first.student == second.student == third.student
    assert (second.at - first.at).days == 7
    assert (first.own_reply, second.own_reply, third.own_reply) == (False, False, True)
    assert first.name == "Kim"
    assert all(scene.name is None for scene in scenes(sample_dialogues(), NOW))
    assert {each.dialogue.source for each in shipped_scenes(NOW)} == {"written", "MathDial", "CIMA", "Bridge"}
