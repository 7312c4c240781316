"""Endpointing as a table: probabilities of 100 ms or 32 ms frames in, decisions out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.stt.endpoint import Began, Decision, Ended, Endpointer, EndpointRules, Paused, Resumed

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
        ("##" + "." * 16, "BPE", "512 ms of silence end it"),
        ("##" + "." * 15, "BP", "480 ms do not"),
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


class TestTooLong:
    """Somebody who talks on, or a television."""

    rules = EndpointRules(max_utterance=1.0)

    def test_goes_on_without_a_gap(self):
        """The second part begins at the instant the first was closed: no word lost, none twice."""
        decisions = run([0.9] * 25, self.rules, frame=0.1)
        ends = [d for d in decisions if isinstance(d, Ended)]
        begins = [d for d in decisions if isinstance(d, Began)]
        assert [d.continues for d in begins] == [False, True, True]
        assert [e.end for e in ends] == [b.onset for b in begins[1:]] == pytest.approx([1.0, 2.0])

    def test_in_a_pause_it_just_ends(self):
        """Silence is not the beginning of an utterance."""
        decisions = run([0.9] * 7 + [0.0] * 4, self.rules, frame=0.1)
        assert [type(d) for d in decisions] == [Began, Paused, Ended]
        assert decisions[-1] == Ended(0.0, pytest.approx(0.7))


@given(st.lists(st.sampled_from([0.0, 0.2, 0.4, 0.6, 0.9]), max_size=400))
def test_laws(probabilities: list[float]):
    """Whatever is heard: begun once, ended once, in order, with its end not before its onset."""
    open_since: float | None = None
    paused = False
    for decision in run(probabilities, EndpointRules(max_utterance=2.0)):
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
        {"end_silence": 61.0},
        {"pre_roll": -0.1},
    ],
)
def test_rules_that_make_no_sense_are_refused(wrong: dict[str, float]):
    """A slip in a configuration file is found at the start, not by a visitor."""
    with pytest.raises(ValueError, match="must"):
        EndpointRules(**wrong)  # type: ignore[arg-type]
