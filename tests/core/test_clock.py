"""The one clock."""

from __future__ import annotations

import pytest

from voice.core.clock import ManualClock


def test_it_stands_still_until_it_is_moved() -> None:
    """A test that depends on the speed of the machine fails on somebody else's."""
    clock = ManualClock(5.0)
    assert clock.now() == clock.now() == 5.0
    assert clock.advance(0.25) == clock.now() == 5.25


def test_it_never_goes_back() -> None:
    """A position that runs backwards would take back what was heard."""
    clock = ManualClock(5.0)
    with pytest.raises(ValueError, match="cannot go back"):
        clock.advance(-0.1)
    assert clock.now() == 5.0
