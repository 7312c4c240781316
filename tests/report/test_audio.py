"""The sound file is the evidence for everything else in the report."""

import io
import wave

import numpy as np

from voice.report.audio import conversation_wav, write_conversation


def read(data: bytes) -> tuple[tuple[int, int, int, int], np.ndarray]:
    """Channels, bytes a sample, rate and frames; and the frames."""
    with wave.open(io.BytesIO(data)) as file:
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2").reshape(-1, 2)
        return file.getparams()[:4], samples


class TestConversation:
    def test_has_the_loudspeaker_left_and_the_user_right(self):
        """Who said what would be exchanged."""
        left, right = np.full(100, 0.5, np.float32), np.full(100, -0.25, np.float32)
        form, samples = read(conversation_wav(left, right, 16000))
        assert form == (2, 2, 16000, 100)
        assert samples[0].tolist() == [16384, -8192]

    def test_is_as_long_as_the_longer_side(self):
        """The user's last word would be missing."""
        _, samples = read(conversation_wav(np.ones(10, np.float32), np.ones(25, np.float32), 8000))
        assert len(samples) == 25
        assert not samples[10:, 0].any()

    def test_too_loud_is_limited_and_never_wraps_around(self):
        """A shout would become a crack, loud enough to hurt."""
        loud = np.array([2.0, -2.0, 1.0, -1.0, np.inf, np.nan], np.float32)
        _, samples = read(conversation_wav(loud, loud, 8000))
        assert samples[:, 0].tolist() == [32767, -32767, 32767, -32767, 32767, 0]

    def test_of_nothing_is_a_sound_file(self):
        """A player would report a broken file."""
        empty = np.zeros(0, np.float32)
        assert read(conversation_wav(empty, empty, 16000))[0] == (2, 2, 16000, 0)

    def test_is_written_whole(self, tmp_path):
        """Half a file plays, and ends in mid-word."""
        path = tmp_path / "conversation.wav"
        write_conversation(path, np.ones(10, np.float32), np.ones(5, np.float32), 16000)
        assert path.read_bytes() == conversation_wav(np.ones(10, np.float32), np.ones(5, np.float32), 16000)
