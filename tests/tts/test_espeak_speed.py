"""The default voice beside the real clock: its speed, and virtual time."""

from tests.tts.speech import RATE, say
from voice.timeloop import run_virtual
from voice.tts.espeak import FASTEST, SLOWEST, EspeakVoice, words_per_minute


def test_speed_stays_in_the_range_of_the_engine() -> None:
    """Beyond it espeak's speed and word marks part."""
    assert words_per_minute(175, 0.1) == SLOWEST == 80
    assert words_per_minute(175, 9.0) == FASTEST == 450
    assert words_per_minute(175, 1.2) == 210


def test_it_speaks_in_virtual_time() -> None:
    """Simulated conversations use the real voice; time must stand still while it works."""

    async def main() -> int:
        voice = EspeakVoice()
        await voice.start(RATE)
        spoken = await say(voice, "It was a quiet morning in the harbour, and nobody was in a hurry.")
        await voice.close()
        return spoken.pcm.size

    assert run_virtual(main()) > 3 * RATE
