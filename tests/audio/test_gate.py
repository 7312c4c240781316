"""Whoever listens to the wrong canceller interrupts himself, or does not hear the user."""

import numpy as np
import pytest

from voice.audio.base import BLOCK
from voice.audio.gate import LATEST, SOONEST, Gate


def level(db: float) -> np.ndarray:
    """A block of so many dBFS RMS."""
    signs = np.where(np.arange(BLOCK) % 2, 1, -1)
    return (signs * 10 ** (db / 20)).astype(np.float32)


QUIET = level(-60)
AEC3 = level(-61)


class Play:
    """Feeds a gate blocks of given levels; `choose` says which signal it took: "linear" or "aec3"."""

    def __init__(self) -> None:
        self.gate = Gate()
        self.choose(seconds=1)

    def choose(self, mic: float = -60, left: float = -60, echo: float = -100, far: float = -100, seconds=0.01) -> str:
        linear = level(left)
        for _ in range(round(seconds * 100)):
            chosen = self.gate.choose(level(mic), level(far), 10 ** (echo / 10), linear, AEC3)
        return "linear" if chosen is linear else "aec3"

    def speak(self, left: float, seconds: float = 0.01) -> str:
        """Our own voice at -26 dBFS, of which the linear filter leaves `left`."""
        return self.choose(mic=-26, left=left, echo=-26, far=-20, seconds=seconds)


def learnt() -> Play:
    play = Play()
    play.speak(-46, seconds=SOONEST / 100)
    play.speak(-46, seconds=5)
    return play


def test_in_silence_everything_is_heard():
    """While nothing is played there is nothing to keep out."""
    play = Play()
    assert play.choose(mic=-30, left=-30) == "linear"


def test_the_first_moments_are_unsettled():
    """Neither canceller knows the way: the greeting would interrupt itself if nobody knew."""
    play = Play()
    assert play.speak(-27, seconds=LATEST / 100 - 0.01) == "aec3"
    assert not play.gate.settled
    play.speak(-32)
    assert play.gate.settled


def test_a_filter_that_proves_itself_settles_it_sooner():
    """Nobody has to talk for half a second to be let in, when the way of the echo is known."""
    play = Play()
    play.speak(-46, seconds=SOONEST / 100 - 0.01)
    assert not play.gate.settled
    play.speak(-46)
    assert play.gate.settled


def test_in_a_pause_of_the_voice_it_is_settled():
    """Who answers at once, within the first seconds of all, is heard."""
    play = Play()
    play.speak(-27, seconds=0.5)
    play.choose(seconds=0.39)
    assert not play.gate.settled
    assert play.choose(mic=-30, left=-30) == "linear"
    assert play.gate.settled


def test_a_young_filter_is_not_believed():
    """What it leaves reads as speech."""
    play = Play()
    play.speak(-27, seconds=SOONEST / 100)
    assert play.speak(-30, seconds=3) == "aec3"
    assert play.gate.left_db > -5


def test_a_filter_that_has_learnt_finds_the_user_at_once():
    """In double talk the linear output has the user's first syllable, AEC3's a fifth of a second later."""
    play = learnt()
    assert play.speak(-46) == "aec3"
    assert play.choose(mic=-23, left=-26, echo=-26, far=-20) == "linear"


def test_syllables_hang_together():
    """A gate that chops the user into blocks is no gate for a detector of voices."""
    play = learnt()
    play.choose(mic=-23, left=-26, echo=-26, far=-20)
    assert play.speak(-46, seconds=0.09) == "linear"
    assert play.speak(-46, seconds=0.02) == "aec3"


def test_a_loud_echo_is_judged_by_its_remains():
    """A loudspeaker at its limits leaves a lot, and that must stand out, too, before it counts as somebody."""
    play = Play()
    play.speak(-38, seconds=8)
    assert play.gate.left_db == pytest.approx(-12, abs=0.5)
    assert play.speak(-36) == "aec3"


def test_a_jump_is_seen_within_two_blocks():
    """After an xrun the filter's estimate is a second echo: it stands out, and must not pass for a user."""
    play = learnt()
    play.choose(mic=-26, left=-23, echo=-26, far=-20)
    assert play.choose(mic=-26, left=-23, echo=-26, far=-20) == "aec3"
    assert play.gate.left_db == 0


def test_a_new_beginning_unsettles_it():
    """The linear filter has found out that its path is of the past."""
    play = learnt()
    play.gate.begin_anew()
    assert play.speak(-26, seconds=SOONEST / 100) == "aec3"
    assert not play.gate.settled


def test_a_duck_changes_nothing():
    """Our own voice falls by 20 dB from one block to the next, and the user stays found."""
    play = learnt()
    before = play.gate.left_db
    assert play.choose(mic=-23, left=-26, echo=-26, far=-20, seconds=0.1) == "linear"
    assert play.choose(mic=-26, left=-26, echo=-46, far=-40, seconds=2) == "linear"
    assert play.gate.left_db == pytest.approx(before, abs=3.1)


def test_after_the_duck_the_echo_is_still_known():
    """The voice comes back, and must not be taken for the user who has gone."""
    play = learnt()
    play.choose(mic=-23, left=-26, echo=-26, far=-20, seconds=0.1)
    play.choose(mic=-26, left=-26, echo=-46, far=-40, seconds=2)
    play.speak(-46, seconds=0.5)
    assert play.speak(-46) == "aec3"


def test_what_was_there_before_the_voice_is_not_there_with_it():
    """The first syllable of a sentence after somebody spoke is the voice's own, not the end of his."""
    play = learnt()
    play.choose(mic=-23, left=-26, echo=-26, far=-20)
    play.choose(mic=-26, left=-26, seconds=1)
    play.gate.left_db = 0
    assert play.speak(-28) == "aec3"


def test_an_echo_that_is_awaited_is_nobody():
    """A young filter expects the echo of the first syllable too early, and what it takes away of nothing is a sound."""
    play = Play()
    play.speak(-27, seconds=SOONEST / 100)
    play.choose(seconds=1)
    assert play.choose(mic=-60, left=-45, echo=-45, far=-20) == "aec3"
