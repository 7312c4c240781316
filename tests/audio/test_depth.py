"""The loudspeaker's buffer: short, so that the voice yields soon; deeper where the machine cannot keep up."""

from __future__ import annotations

from voice.audio.depth import MOST_DRY, STEPS, WITHIN, Depth, Rhythm


def test_it_begins_short() -> None:
    """Whoever says "stop" waits for what is in the buffer."""
    assert Depth().seconds == min(STEPS)


def test_once_is_no_reason() -> None:
    """A program that is held up while a model is loaded is none that is too slow."""
    depth = Depth()
    assert not any(depth.ran_dry(now) for now in (0.0, 0.1, 0.1 + WITHIN, 30.0, 31.0))
    assert depth.seconds == STEPS[0]


def test_again_and_again_is() -> None:
    """Holes in every second sentence are worse than 20 ms."""
    depth = Depth()
    wanted = [depth.ran_dry(now) for now in (0.0, 1.0, 2.0, 2.1, 2.2, 2.3)]
    assert wanted == [False, False, True, False, False, True]
    assert depth.seconds == STEPS[2]


def test_it_does_not_grow_for_ever() -> None:
    """A machine that cannot keep up with the deepest buffer is not helped by opening the device for ever."""
    depth = Depth()
    wanted = sum(depth.ran_dry(now / 10) for now in range(20 * MOST_DRY))
    assert (wanted, depth.seconds) == (len(STEPS) - 1, STEPS[-1])


def late(gaps: list[float], lasts: float = 0.015) -> list[int]:
    """Which of the callbacks, so far apart (seconds), come late."""
    rhythm, now, found = Rhythm(lasts), 0.0, []
    rhythm.late(now)
    for number, gap in enumerate(gaps):
        now += gap
        if rhythm.late(now):
            found.append(number)
    return found


def test_a_callback_that_comes_when_the_buffer_has_run_dry() -> None:
    """It is a hole in the sound, and nobody but the time tells."""
    assert late([0.005] * 200 + [0.031] + [0.005] * 50 + [0.012]) == [200]


def test_a_sound_server_that_takes_much_at_once() -> None:
    """PulseAudio with PULSE_LATENCY_MSEC=80 takes four blocks every 20 ms, whatever buffer it says it has."""
    assert late([0.02, 0.0, 0.0, 0.0] * 100) == []


def test_a_program_that_is_too_slow_from_the_beginning() -> None:
    """Its buffer is dry again and again among callbacks in time."""
    assert len(late(([0.005] * 20 + [0.035]) * 10)) >= MOST_DRY
