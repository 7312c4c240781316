"""Fixtures of the tests in real time."""

from collections.abc import Iterator

import pytest

from voice.bench.live_pulse import PulseServer


@pytest.fixture
def virtual_sound() -> Iterator[PulseServer]:
    """A sound server of its own for one test."""
    with PulseServer() as server:
        yield server
