"""Words light up on the page while they sound; the wrong word lighting up is worse than none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from voice.report.align import align
from voice.report.words import SpokenWord


def spoken(text: str) -> list[SpokenWord]:
    return [SpokenWord(word, float(n), n + 0.9, True) for n, word in enumerate(text.split())]


def times(source: str, said: str) -> list[tuple[str, float | None]]:
    return [(piece.text, piece.t_start) for piece in align(source, spoken(said)) if not piece.text.isspace()]


class TestAlign:
    def test_the_same_words_have_their_own_times(self):
        """The simplest case, and nearly all of them."""
        assert times("Hello, dear friend.", "Hello, dear friend.") == [("Hello,", 0), ("dear", 1), ("friend.", 2)]

    def test_an_amount_has_the_time_of_all_its_words(self):
        """ "$42" would light up for one of three words, and all behind it two words early."""
        pieces = [p for p in align("It costs $42 now", spoken("It costs forty two dollars now")) if p.text == "$42"]
        assert [(p.t_start, p.t_end) for p in pieces] == [(2.0, 4.9)]
        assert times("It costs $42 now", "It costs forty two dollars now")[-1] == ("now", 5)

    def test_what_was_not_said_has_no_time(self):
        """A mark or a link would light up with its neighbour's sound."""
        assert times("Stop — now", "Stop now") == [("Stop", 0), ("—", None), ("now", 1)]

    @pytest.mark.parametrize("said", ["", "something else", "a b c d e f"])
    def test_nothing_in_common_raises_nothing(self, said):
        """A report must come, whatever was said."""
        assert "".join(piece.text for piece in align("x  y\nz", spoken(said))) == "x  y\nz"

    @given(st.text(), st.text())
    def test_the_pieces_join_to_the_source(self, source, said):
        """T8: a character that the page loses is a quotation that is wrong."""
        assert "".join(piece.text for piece in align(source, spoken(said))) == source
