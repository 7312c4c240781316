"""Endpointing as a table: probabilities of 100 ms or 32 ms frames in, decisions out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.stt.endpoint import Began, Decision, Ended, Endpointer, EndpointRules, Paused, Resumed, Split

FRAME = 0.032


def run(probabilities: list[float], rules: EndpointRules | None = None, frame: float = FRAME) -> list[Decision]:
    endpointer = Endpointer(rules)
    return [d for n, p in enumerate(probabilities) for d in endpointer.update((n + 1) * frame, p, frame)]


def frames(pattern: str) -> list[float]:
    """'#' is voice, '+' weak voice (above release, below onset), '.' silence."""
    return [{"#": 0.9, "+": 0.4, ".": 0.01}[sign] for sign in pattern]


def kinds(pattern: str, rules: EndpointRules | None = None) -> str:
    letters = {Began: "B", Paused: "P", Resumed: "R", Ended: "E"}
    return "".join(letters[type(d)] for d in run(frames(pattern), rules))


@pytest.mark.parametrize(
    ("pattern", "expected", "why"),
    [
        ("....................", "", "silence says nothing"),
        ("....#", "B", "a frame of voice is an onset: the voice must go down at once"),
        ("....#" + "." * 16, "BPE", "and a blip is over soon"),
        ("....#..#", "B", "one utterance, not two"),
        ("....++++++++++++++++", "", "weak voice does not begin an utterance"),
        ("....#.##.#", "B", "F4: speech with 40 ms holes counts as speech"),
        ("......#" * 10, "B", "F5: ten blips of 20 ms in 2 s are one sound (the floor makes nothing of it)"),
        ("##......", "B", "192 ms of silence are no pause yet"),
        ("##.......", "BP", "224 ms are"),
        ("##.......##", "BPR", "voice comes back before the end"),
        ("##.......+.", "BP", "weak voice does not end a pause"),
        ("##++++++++++++++++++++++", "B", "weak voice keeps an utterance going"),
        ("##" + "." * 14, "BPE", "448 ms of silence end it"),
        ("##" + "." * 13, "BP", "416 ms do not"),
        ("##......." + "##" + "." * 16, "BPRPE", "a pause inside keeps it one utterance"),
        ("##" + "." * 16 + "##" + "." * 16, "BPEBPE", "two utterances"),
    ],
)
def test_table(pattern: str, expected: str, why: str):
    """Each row is a person cut off, not heard, or kept waiting."""
    assert kinds(pattern) == expected, why


def test_more_frames_can_be_asked_for():
    """Where every click is a frame of voice, an operator can ask for two; those of the last utterance do not count."""
    two = EndpointRules(onset_frames=2)
    assert kinds("....#...#...#...#...", two) == ""
    assert kinds("....#..#", two) == "B"
    assert kinds("##" + "." * 16 + "#...", two) == "BPE"


def test_in_haste_weaker_voice_is_an_onset():
    """While our own voice sounds, a person must not wait for a surer frame; the end of the voice is judged as ever."""
    endpointer = Endpointer()
    endpointer.hasty = True
    assert [type(d) for d in endpointer.update(FRAME, 0.35, FRAME)] == [Began]
    assert [type(d) for n in range(2, 9) for d in endpointer.update(n * FRAME, 0.32, FRAME)] == [Paused]


def test_times_are_those_of_the_voice():
    """The onset is where the voice began, not where it was noticed; the end is where it fell silent."""
    decisions = run(frames("....#.####" + "." * 16))
    assert decisions == [
        Began(pytest.approx(4 * FRAME)),
        Paused(pytest.approx(10 * FRAME)),
        Ended(pytest.approx(4 * FRAME), pytest.approx(10 * FRAME)),
    ]


def test_voice_is_counted():
    """Partials say how much voice they rest on; silence in between must not count."""
    endpointer = Endpointer()
    for n, p in enumerate(frames("..##..##+.")):
        endpointer.update((n + 1) * FRAME, p, FRAME)
    assert endpointer.voiced == pytest.approx(5 * FRAME)


class TestPatience:
    """Somebody who looks for a word, and somebody who has said all."""

    rules = EndpointRules(end_silence=0.5)

    def silence(self, seconds: float | None, pause: int = 1, onset: float = 0.0) -> float:
        """Seconds of silence after one frame of voice until the end, when `wait` is called in the pause."""
        endpointer = Endpointer(self.rules)
        endpointer.update(FRAME, 0.9, FRAME)
        for n in range(1, 100):
            for decision in endpointer.update((n + 1) * FRAME, 0.0, FRAME):
                if isinstance(decision, Ended):
                    return n * FRAME
                if isinstance(decision, Paused) and seconds is not None:
                    endpointer.wait(onset, pause, seconds)
        raise AssertionError("it never ended")

    @pytest.mark.parametrize(("seconds", "ends"), [(None, 0.5), (0.3, 0.3), (1.2, 1.2), (0.0, 0.2)])
    def test_the_reader_says_how_long(self, seconds: float | None, ends: float):
        """A sentence cut off at "my", or half a second lost after every no."""
        assert self.silence(seconds) == pytest.approx(ends, abs=2 * FRAME)

    def test_what_was_said_of_another_pause_does_not_count(self):
        """A slow decode of the last utterance would cut this one off."""
        assert self.silence(0.3, pause=2) == pytest.approx(0.5, abs=2 * FRAME)
        assert self.silence(0.3, onset=-7.0) == pytest.approx(0.5, abs=2 * FRAME)


class TestTooLong:
    """Somebody who tells a long story, or a television."""

    rules = EndpointRules(piece=1.0, longest_piece=2.0, max_utterance=5.0)

    def test_it_is_split_in_a_pause_and_goes_on(self):
        """One story is one message; the recogniser gets it in pieces that end between words."""
        decisions = run([0.9] * 12 + [0.0] * 4 + [0.9] * 5, self.rules, frame=0.1)
        assert [type(d) for d in decisions] == [Began, Paused, Split, Resumed]
        assert decisions[2] == Split(pytest.approx(1.4))

    def test_without_a_pause_it_is_split_later(self):
        """A decode would take longer and longer, and the answer with it."""
        decisions = run([0.9] * 45, self.rules, frame=0.1)
        assert [(type(d), round(getattr(d, "time", 0.0), 1)) for d in decisions] == [
            (Began, 0.0),
            (Split, 2.0),
            (Split, 4.0),
        ]

    def test_a_short_one_is_not_split(self):
        """Two decodes where one would do, and worse words at the seam."""
        decisions = run([0.9] * 7 + [0.0] * 3 + [0.9] * 5 + [0.0] * 6, EndpointRules(), frame=0.1)
        assert [type(d) for d in decisions] == [Began, Paused, Resumed, Paused, Ended]

    def test_a_television_is_heard_no_more_until_it_pauses(self):
        """What it says would be sent as one answer after another."""
        decisions = run([0.9] * 90 + [0.0] * 6 + [0.9] * 3, self.rules, frame=0.1)
        assert [type(d) for d in decisions if not isinstance(d, Split)] == [Began, Ended, Began]
        assert decisions[-1] == Began(pytest.approx(9.6))


@given(st.lists(st.sampled_from([0.0, 0.2, 0.4, 0.6, 0.9]), max_size=400))
def test_laws(probabilities: list[float]):
    """Whatever is heard: begun once, ended once, in order, with its end not before its onset."""
    open_since: float | None = None
    paused = False
    for decision in run(probabilities, EndpointRules(piece=1.0, longest_piece=1.5, max_utterance=3.0)):
        match decision:
            case Began(onset):
                assert open_since is None
                open_since, paused = onset, False
            case Paused(end):
                assert open_since is not None
                assert not paused
                assert end >= open_since
                paused = True
            case Resumed():
                assert paused
                paused = False
            case Split(time):
                assert open_since is not None
                assert time > open_since
            case Ended(onset, end):
                assert onset == open_since
                assert end >= onset
                open_since = None


@pytest.mark.parametrize(
    "wrong",
    [
        {"release_threshold": 0.6},
        {"onset_frames": 5},
        {"speculate_after": 0.6},
        {"end_silence": 181.0},
        {"piece": 41.0},
        {"pre_roll": -0.1},
    ],
)
def test_rules_that_make_no_sense_are_refused(wrong: dict[str, float]):
    """A slip in a configuration file is found at the start, not by a visitor."""
    with pytest.raises(ValueError, match="must"):
        EndpointRules(**wrong)  # type: ignore[arg-type]
