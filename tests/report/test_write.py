"""The folder that somebody is handed after a conversation: complete, whole, and nobody else's."""

import json
import stat
from dataclasses import dataclass

import numpy as np
import pytest

from tests.report.story import Story, triage
from voice.audio.base import RATE
from voice.report.files import write_private
from voice.report.record import Record
from voice.report.write import write_report

META = {"backend": "infermedica", "flow": "triage", "device": "room"}


@dataclass
class Tape:
    """Both sides of a conversation."""

    loudspeaker: np.ndarray
    user: np.ndarray
    t0: float


def written(folder, story: Story, seconds: float | None = 31.0):
    record = Record()
    story.tell(record)
    tape = None
    if seconds is not None:
        silence = np.zeros(round(seconds * RATE), np.float32)
        tape = Tape(silence, silence, story.t0 - 1.0)
    return write_report(folder, record, tape, engines={"voice": "espeak"}, **META)


class TestFolder:
    def test_holds_the_four_files_and_nothing_else(self, tmp_path):
        """A half-written file would be taken for the report."""
        made = written(tmp_path / "a" / "out", triage())
        names = ["conversation.wav", "report.html", "summary.json", "timeline.png"]
        assert sorted(path.name for path in made.summary.parent.iterdir()) == names
        assert [made.conversation.name, made.report.name, made.summary.name, made.timeline.name] == names

    def test_is_its_owners_alone(self, tmp_path):
        """Health data would lie open to every account of the machine."""
        made = written(tmp_path / "out", triage())
        assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o700
        for path in (made.summary, made.report, made.timeline, made.conversation):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600

    def test_is_written_over(self, tmp_path):
        """The second demo would fail, or show the first one's words."""
        written(tmp_path, triage())
        made = written(tmp_path, Story())
        assert json.loads(made.summary.read_text())["messages"] == []
        assert "headache" not in made.report.read_text()

    def test_times_are_those_of_the_recording(self, tmp_path):
        """The page's words would light up a second early."""
        made = json.loads(written(tmp_path, triage()).summary.read_text())
        assert made["messages"][0]["t_start"] == 1.4

    def test_without_a_recording_has_no_sound_and_is_otherwise_complete(self, tmp_path):
        """A talk through a sound card would have no report."""
        made = written(tmp_path, triage(), None)
        assert made.conversation is None
        assert "<audio" not in made.report.read_text()
        assert json.loads(made.summary.read_text())["messages"][0]["t_start"] == 0.4

    def test_of_a_talk_that_never_began_is_written(self, tmp_path):
        """The report of a failure is the one that is needed."""
        assert written(tmp_path, Story(), 0.0).summary.exists()


class TestFaults:
    def test_a_file_that_cannot_be_written_leaves_nothing_behind(self, tmp_path):
        """A disk error would leave private text in a file that nobody knows of."""
        (tmp_path / "taken").mkdir()
        with pytest.raises(OSError, match="taken"):
            write_private(tmp_path / "taken", b"private")
        assert [path.name for path in tmp_path.iterdir()] == ["taken"]
