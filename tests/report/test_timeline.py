"""The picture itself: that it is one, that it grows with the talk, and that no text can break it."""

import io
import warnings

import numpy as np
import pytest
from matplotlib.image import imread

from tests.report.story import Story, triage
from voice.report.kinds import COLOURS, CUT
from voice.report.record import Record
from voice.report.scene import scene
from voice.report.timeline import DPI, HEAD, MOST_PIXELS, ROW_HEIGHT, WIDTH, envelope, resolution, timeline_png


def picture(story: Story, **how) -> np.ndarray:
    record = Record()
    story.tell(record)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return imread(io.BytesIO(timeline_png(scene(record, story.t0, **how), "A talk")))


class TestPicture:
    def test_is_as_high_as_its_rows(self):
        """A row that is missing is ten seconds of talk that nobody sees."""
        height, width, _ = picture(triage(), length=31.0).shape
        assert (width, height) == (int(WIDTH * DPI), int((HEAD + 3 * ROW_HEIGHT) * DPI))

    def test_has_every_kinds_colour_and_the_cut(self):
        """Kinds or cuts that are not drawn are not told apart."""
        pixels = (picture(triage())[..., :3] * 255).round().astype(np.uint32) @ np.array(
            [1 << 16, 1 << 8, 1], np.uint32
        )
        for ink in (*(COLOURS[kind] for kind in COLOURS if kind != "filler"), CUT):
            assert (pixels == int(ink[1:], 16)).sum() > 100, ink

    def test_of_a_long_talk_stays_within_its_memory(self):
        """The report of an hour would end the program that writes it."""
        for rows in (1, 10, 60):
            height = HEAD + rows * ROW_HEIGHT
            assert 60 <= resolution(height) <= DPI
            assert height * WIDTH * resolution(height) ** 2 <= MOST_PIXELS

    @pytest.mark.parametrize(
        "text",
        [
            "_$\\frac$ \\frac{",
            "<script>alert(1)</script>",
            "\x1b[2J\x00\n",
            "您好，感谢",
            "\u202eesrever",
            "half \ud800 pair",
            "x" * 3000,
        ],
    )
    def test_takes_any_text(self, text):
        """What a server or a user says would stop the report."""
        story = Story()
        story.message(1.0, "m", text, heard=None, kind=text)
        story.message(3.0, "n", f"One {text} {text}", heard=1, cut="voice", kind=text)
        story.utterance(4.0, "u", text, sent=6.0, played=text)
        picture(story)

    def test_of_nothing_is_a_picture(self):
        """A conversation that failed at once still has its report."""
        assert picture(Story()).size


class TestEnvelope:
    def test_of_silence_and_of_nothing_is_flat(self):
        """A division by zero would end the report of a silent talk."""
        assert not envelope(np.zeros(1600, np.float32), 16000).any()
        assert envelope(np.zeros(0, np.float32), 16000).size == 0

    def test_follows_the_sound(self):
        """A picture of sound that is not the sound."""
        pcm = np.zeros(3200, np.float32)
        pcm[1600:] = 0.5
        assert envelope(pcm, 16000).tolist() == [0.0] * 10 + [1.0] * 10
