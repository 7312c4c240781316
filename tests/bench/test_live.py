"""The live bench's judges: what they read from a recording decides whether real time keeps what virtual time promised.

The runs themselves are in real time; here are the parts that only count.
"""

from __future__ import annotations

import asyncio
import json
from typing import ClassVar

import numpy as np
import pytest

from voice.audio.base import BLOCK, RATE, Pcm
from voice.bench import live_measure as measure
from voice.bench.floor_voices import Key
from voice.bench.live import clips_of, figures, line_of
from voice.bench.live_pull import Pulled, judged
from voice.bench.live_room import Room
from voice.bench.live_run import WARM, Case, Run, measured
from voice.bench.live_truth import SpokenText, spoken_text, truth_of

CASE = Case(0, 0, ("joe", "hello"), 6.0)


def noise(seconds: float, level: float = 0.1, seed: int = 0) -> Pcm:
    return (np.random.default_rng(seed).standard_normal(round(seconds * RATE)) * level).astype(np.float32)


def quiet(seconds: float) -> Pcm:
    return np.zeros(round(seconds * RATE), np.float32)


@pytest.fixture(scope="module")
def message() -> SpokenText:
    return asyncio.run(spoken_text("Please tell me if you have any of these: a stiff neck, chest pain, or a rash."))


class TestOnset:
    """From here every latency is counted."""

    def test_the_first_frame_near_the_active_level(self) -> None:
        """A breath before the word would make every latency look long."""
        person = np.concatenate([noise(0.2, 0.001), noise(0.5)])
        channel = np.concatenate([quiet(1.0), person, quiet(1.0)])
        assert measure.onset_of(channel, person) == (round(1.2 * RATE), True)

    def test_a_hole_is_told(self) -> None:
        """A person with holes in them is a machine that was too busy, not a hard case."""
        person = noise(0.5)
        torn = np.concatenate([person[:2000], quiet(0.02), person[2000:]])
        assert measure.onset_of(np.concatenate([quiet(1.0), torn]), person) == (RATE, False)

    def test_nobody(self) -> None:
        """Who was not heard has no onset."""
        assert measure.onset_of(quiet(1.0), noise(0.5)) is None


class TestOurVoice:
    """Our loudspeaker against what it would have played."""

    @staticmethod
    def played(gains: dict[float, float], delay: float = 0.7) -> tuple[Pcm, Pcm]:
        """(recording, source): the source, `delay` later, with a gain from each time (seconds of the source) on."""
        source = noise(3.0)
        ours = source.copy()
        for begin, gain in gains.items():
            ours[round(begin * RATE) :] = source[round(begin * RATE) :] * gain
        return np.concatenate([quiet(delay), ours, quiet(0.5)]), source

    def test_it_is_found_again(self) -> None:
        """However long the way through the sound server was."""
        recording, source = self.played({1.5: 0.1})
        assert measure.shift_of(recording, source, round(2.0 * RATE)) == round(0.7 * RATE)

    def test_it_is_not_found_when_it_was_lowered_long_before(self) -> None:
        """A voice that was down before the person spoke did not yield to them."""
        recording, source = self.played({0.0: 0.1})
        assert measure.shift_of(recording, source, round(2.5 * RATE)) is None

    def test_duck_and_silence(self) -> None:
        """Both moments, to 2 ms."""
        recording, source = self.played({1.5: 0.1, 1.8: 0.0})
        shift, onset = round(0.7 * RATE), round(2.1 * RATE)
        lowered, there = measure.lowered_at(recording, source, shift, onset) or (0, 0)
        assert lowered == pytest.approx(2.2 * RATE, abs=RATE // 400)
        assert there == shift
        silent = measure.silent_at(recording, source, shift, lowered, 20.0)
        assert silent == pytest.approx(2.5 * RATE, abs=RATE // 400)

    def test_a_hole_is_no_duck(self) -> None:
        """A loudspeaker that ran dry did not yield to anybody; behind the hole everything comes later."""
        recording, source = self.played({2.0: 0.1})
        hole, shift = round(2.3 * RATE), round(0.7 * RATE)
        recording = np.concatenate([recording[:hole], quiet(0.025), recording[hole:]])
        lowered, there = measure.lowered_at(recording, source, shift, round(2.2 * RATE)) or (0, 0)
        assert lowered == pytest.approx(2.725 * RATE, abs=RATE // 250)
        assert there == shift + round(0.025 * RATE)

    def test_less_than_10_db_is_no_duck(self) -> None:
        """People do not hear a little less as yielding."""
        recording, source = self.played({1.5: 0.5})
        assert measure.lowered_at(recording, source, round(0.7 * RATE), round(2.0 * RATE)) is None

    def test_a_voice_that_goes_on_has_not_stopped(self) -> None:
        """Lowered is not silent, and a pause between two words is no end."""
        recording, source = self.played({1.5: 0.1})
        pause = slice(round(1.7 * RATE), round(1.9 * RATE))
        source[pause] = 0
        recording[pause.start + round(0.7 * RATE) : pause.stop + round(0.7 * RATE)] = 0
        assert measure.silent_at(recording, source, round(0.7 * RATE), round(2.2 * RATE), 20.0) is None


class TestDeadStreams:
    """A kiosk whose microphone died stands there and says nothing."""

    def test_a_stream_that_stops(self) -> None:
        """No callback until the end; and not noticed."""
        dead = measure.dead_times([1.0, 1.1, 1.2], 0.9, 5.0)
        assert dead == [1.2]
        assert measure.unnoticed(dead, []) == [1.2]
        assert measure.unnoticed(dead, [4.0]) == [1.2]
        assert measure.unnoticed(dead, [1.6]) == []

    def test_a_stream_that_never_began(self) -> None:
        """Opened without an error, and dead from the first moment on."""
        assert measure.dead_times([], 1.0, 3.0) == [1.0]

    def test_a_stream_that_lives(self) -> None:
        """Callbacks of a stream that was opened later count for that one."""
        assert measure.dead_times([0.1, 0.2, 5.0, 5.3], 0.0, 0.4) == []

    def test_a_microphone_that_hears_nothing(self) -> None:
        """Callbacks come, and bring zeros in a room that is never silent."""
        assert measure.longest_zeros(np.concatenate([noise(1.0), quiet(1.5), noise(0.1)])) == pytest.approx(1.5)

    def test_a_late_callback(self) -> None:
        """The machine was too busy: it shows in the times between the callbacks."""
        assert measure.longest_gap(np.array([0.0, 0.01, 0.02, 0.10, 0.11]), 0.0, 1.0) == pytest.approx(0.08)


class TestPulled:
    """A sound server that is taken away and given back."""

    CALLS: ClassVar = [np.arange(0.0, 3.0, 0.01), np.arange(0.0, 3.0, 0.01)]

    def test_noticed_and_back(self) -> None:
        """Counted from the moment at which it was taken away."""
        assert judged("killed", 1.0, [1.2], [0.0, 2.0], self.CALLS) == Pulled("killed", pytest.approx(200), True)

    def test_not_noticed(self) -> None:
        """A notice that comes late, or came before, is none."""
        assert judged("frozen", 1.0, [0.5, 2.6], [0.0], self.CALLS) == Pulled("frozen", None, False)

    def test_opened_but_dead(self) -> None:
        """A device that is open again and gives no sound is not back, and one direction is not enough."""
        dead = [self.CALLS[0], np.arange(0.0, 1.0, 0.01)]
        assert not judged("killed", 1.0, [1.2], [0.0, 2.0], dead).back


class TestRoom:
    """The room plays what was asked for, to the sample."""

    def test_the_person_comes_when_our_voice_has_spoken_long_enough(self) -> None:
        """Warm means warm: the moment counts from our voice's first sound."""
        person = noise(0.1234)
        room = Room("dry", person, after=0.5, echo_db=-6.0, noise_db=-200.0)
        ours = np.concatenate([quiet(0.2), noise(1.3, seed=1)])
        answers = [room.answer(ours[at : at + BLOCK]) for at in range(0, ours.size, BLOCK)]
        alone = np.concatenate([person for _, person in answers])
        first = round(0.7 * RATE)
        assert np.array_equal(alone[first : first + person.size], person)
        assert np.count_nonzero(alone) == np.count_nonzero(person)
        assert room.over

    def test_the_echo_comes_back(self) -> None:
        """A microphone that does not hear us proves nothing about what it takes for a person."""
        room = Room("kiosk", noise(0.1), after=9.0, echo_db=-6.0, noise_db=-200.0)
        heard = np.concatenate([room.answer(noise(0.01, 0.05, seed))[0] for seed in range(100)])
        assert 20 * np.log10(np.sqrt(np.mean(heard**2)) / 0.05) == pytest.approx(-6, abs=1.5)


def test_what_the_recording_says_was_heard(message: SpokenText) -> None:
    """Words that end before the voice was lowered, and no other."""
    audio = message.audio
    until = audio.size // 2
    lowered = audio.copy()
    lowered[until:] *= 0.1
    truth = truth_of(np.concatenate([quiet(0.3), lowered]), message)
    assert truth.until == pytest.approx(until + round(0.3 * RATE), abs=RATE // 20)
    assert truth.heard == message.heard(truth.until - round(0.3 * RATE))
    assert 0 < len(truth.heard) < len(message.text)
    assert message.heard(audio.size) == message.text


def recorded(message: SpokenText, onset: float, duck: float, stop: float, heard: str) -> Run:
    """A run as the room and the program write it down: times in seconds of the message's audio."""
    person, ours = noise(1.0), message.audio.copy()
    ours[round(duck * RATE) :] *= 0.1
    ours[round(stop * RATE) :] = 0
    alone = quiet(ours.size / RATE + 2.0)
    alone[round(onset * RATE) : round(onset * RATE) + person.size] = person
    loudspeaker = np.concatenate([ours, quiet(2.0)])
    sound = np.stack([loudspeaker, alone + noise(loudspeaker.size / RATE, 0.001)[: alone.size], alone], axis=1)
    calls = np.arange(0, sound.shape[0] / RATE, 0.01)
    program = {
        "rendered": np.stack([calls, calls], axis=1),
        "captured": np.stack([calls, calls], axis=1),
        "heard": sound[:, 1],
        "log": json.dumps([[onset + 1, "closed", {"heard": heard, "cut": "voice"}]]),
        "card": json.dumps(
            {
                "underflows": 0,
                "overflows": 0,
                "dropped": 0,
                "buffer": 0.01,
                "jumps": 0,
                "drift_ppm": 0.0,
                "lost": [],
                "opened": [0.0],
                "closed": [float(calls[-1])],
                "latencies": [[0.02, 0.02]],
            }
        ),
    }
    return measured(CASE, "default", person, message, {"sound": sound, "began": 0.0}, program)


def test_a_run(message: SpokenText) -> None:
    """From two recordings to the figures of one run."""
    audio = message.audio
    onset = 1.0
    duck = next(at for at in np.arange(1.1, 3, 0.01) if np.abs(audio[round(at * RATE) : round(at * RATE) + 32]).min())
    heard = message.heard(round(duck * RATE))
    run = recorded(message, onset, duck, duck + 0.3, heard)
    assert run.duck == pytest.approx((duck - onset) * 1000, abs=20)
    assert run.silence == pytest.approx((duck - onset) * 1000 + 300, abs=60)
    assert (run.exact, run.dead, run.unnoticed, run.busy) == (True, 0, 0, "")
    assert recorded(message, onset, duck, duck + 0.3, heard + " too").exact is False


class TestFigures:
    """What is published."""

    def test_names(self) -> None:
        """Whoever reads the figures finds them by these names."""
        runs = [
            Run(CASE, "eager", duck=90.0, silence=150.0, exact=True),
            Run(CASE, "default", duck=110.0, silence=400.0, exact=False, busy="callbacks came late"),
            Run(CASE, "default", early=True, dead=1, unnoticed=1),
        ]
        by_name = {figure.name: (figure.value, figure.n) for figure in figures(runs)}
        assert by_name["live.eager.duck_ms.p50"] == (90.0, 1)
        assert by_name["live.default.silence_ms.p95"] == (400.0, 1)
        assert by_name["live.default.heard_exact_share"] == (0.0, 1)
        assert by_name["live.default.yield_rate"] == (0.5, 2)
        assert by_name["live.default.early_ducks"] == (1, 2)
        assert by_name["live.dead_streams"] == (1, 3)
        assert by_name["live.dead_streams_unnoticed"] == (1, 3)
        assert by_name["live.busy_runs"] == (1, 3)

    def test_a_line_for_people(self) -> None:
        """What was odd about a run stands beside its times."""
        run = Run(CASE, "default", duck=110.0, silence=None, busy="callbacks came late")
        assert line_of(run) == "0 default: duck 110 ms, silence - (callbacks came late)"


class TestCases:
    """The same seed plays the same people again."""

    def test_drawn_from_the_seed(self) -> None:
        """A figure can be measured once more."""
        clips: list[Key] = [("a", "x"), ("b", "y"), ("c", "z")]
        cases = [Case.drawn(5, number, clips) for number in range(30)]
        assert cases == [Case.drawn(5, number, clips) for number in range(30)]
        assert {case.clip for case in cases} == set(clips)
        assert all(WARM[0] <= case.after <= WARM[1] for case in cases)

    def test_the_kept_half_is_another(self) -> None:
        """Figures are not measured with what the program was tuned on."""
        assert not set(clips_of(True)) & set(clips_of(False))
