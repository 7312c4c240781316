"""How each kind of message is spoken."""

from __future__ import annotations

import pytest

from tests.core.stage import Stage
from voice.core.pacing import DEFAULT_RULES, KindRule, Pacing
from voice.core.session import SessionRules


class TestCanInterrupt:
    @pytest.mark.parametrize(
        ("kind", "table"),
        [
            ("acknowledgement", False),
            ("bridge", False),
            ("filler", False),
            ("intro", True),
            ("follow_up", True),
            ("read_back", True),
            ("some kind of tomorrow", True),
            ("", True),
        ],
    )
    def test_the_wire_wins_and_the_table_serves_where_it_is_silent(self, kind: str, table: bool) -> None:
        """A user who cannot stop a long text, or a connective that is cut by every breath."""
        pacing = Pacing()
        assert pacing.can_interrupt(kind, None) is table
        assert pacing.can_interrupt(kind, True) is True
        assert pacing.can_interrupt(kind, False) is False

    def test_an_unknown_kind_has_the_rule_that_the_operator_gave_it(self) -> None:
        """A line in the pacing file would do nothing."""
        rule = KindRule(gap=1.0)
        assert Pacing(unknown=rule).rule("epilogue") == rule


class TestSpeaking:
    @pytest.mark.parametrize("kind", sorted(DEFAULT_RULES))
    def test_the_gap_lies_between_two_messages(self, kind: str) -> None:
        """Two messages without a pause sound like one sentence; a pause before the first is only slow."""
        stage = Stage()
        stage.says("One two.", message="a")
        stage.says("Three.", message="b", kind=kind)
        stage.run(3.0)
        a, b = stage.closed["a"], stage.closed["b"]
        assert a.t_start == 0.0
        assert b.t_start is not None
        assert b.t_start - a.t_end == pytest.approx(DEFAULT_RULES[kind].gap, abs=0.011)

    def test_the_rate_goes_with_the_clause(self) -> None:
        """A summary that the user is to check would run past him."""
        stage = Stage(rules=SessionRules(pacing=Pacing({"read_back": KindRule(rate=0.8)})))
        stage.says("One two.", kind="read_back")
        assert [asked.rate for asked in stage.asked] == [0.8]
