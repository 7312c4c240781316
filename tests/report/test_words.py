"""A word that the report shows where it did not sound would make every cut in it doubtful."""

from voice.core.events import Span, Stamp, WordMark
from voice.report.words import Track

RATE = 1000
TEXT = "one two three"
MARKS = (WordMark(0, 3, 0, 280), WordMark(4, 7, 300, 580), WordMark(8, 13, 600, 880))


def track(*spans: tuple[int, int, int], stamp: Stamp | None = None) -> Track:
    """`spans` are (frame, sample, count) of the clause "one two three"."""
    made = Track()
    made.asked(0, TEXT)
    made.voiced(0, MARKS)
    for frame, sample, count in spans:
        made.played(Span(frame, "m", 0, sample, count), stamp or Stamp(0, 50.0), RATE)
    return made


def shown(made: Track) -> list[tuple[str, float, float, bool]]:
    return [(w.text, round(w.t_start, 3), round(w.t_end, 3), w.whole) for w in made.words()]


class TestWords:
    def test_lie_where_the_device_stamp_puts_their_samples(self):
        """A reader who plays the sound beside the picture would see words before he hears them."""
        assert shown(track((0, 0, 900))) == [
            ("one", 50.0, 50.28, True),
            ("two", 50.3, 50.58, True),
            ("three", 50.6, 50.88, True),
        ]

    def test_are_the_same_in_one_span_or_in_blocks_of_ten(self):
        """The player reports in pieces; the pieces are nobody's business."""
        blocks = track(*((n, n, 10) for n in range(0, 900, 10)))
        assert shown(blocks) == shown(track((0, 0, 900)))

    def test_that_were_synthesised_and_never_played_are_no_words(self):
        """The picture would claim what the user was never told."""
        assert [w.text for w in track((0, 0, 300)).words()] == ["one"]

    def test_that_broke_off_end_where_the_sound_ended(self):
        """A cut in mid-word must not look like a word that was said."""
        assert shown(track((0, 0, 400)))[-1] == ("two", 50.3, 50.4, False)

    def test_move_with_an_underrun(self):
        """A stall of the machine delays the words behind it, not those before."""
        assert shown(track((0, 0, 300), (800, 300, 600)))[1:] == [
            ("two", 50.8, 51.08, True),
            ("three", 51.1, 51.38, True),
        ]

    def test_that_an_underrun_parts_are_whole(self):
        """Heard in two halves is heard."""
        assert shown(track((0, 0, 100), (400, 100, 800)))[0] == ("one", 50.0, 50.58, True)

    def test_said_twice_are_shown_twice(self):
        """A voice that goes on after a false alarm repeats its clause; the picture shows both."""
        made = track((0, 0, 600))
        made.asked(0, TEXT)
        made.voiced(0, MARKS)
        made.played(Span(2000, "m", 0, 0, 900), Stamp(0, 50.0), RATE)
        assert [w.text for w in made.words()] == ["one", "two", "one", "two", "three"]

    def test_of_a_clause_nobody_asked_for_are_passed_over(self):
        """Late marks of a message that is over must not stop the record."""
        made = Track()
        made.voiced(3, MARKS)
        made.played(Span(0, "m", 3, 0, 900), Stamp(0, 50.0), RATE)
        assert made.words() == ()
