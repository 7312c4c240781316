"""Options that several commands have; and how long-running commands end: in order, whoever ends them and however."""

import asyncio
import os
import signal

import pytest

from voice.commands.options import backend_named, on_interrupt
from voice.config import ConfigError


@pytest.fixture(autouse=True)
def handlers_as_before():
    """The test run's own Ctrl-C works again afterwards."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_ctrl_c_an_end_by_the_system_and_a_closed_terminal_end_in_order(number):
    """What was heard and said would not be told to the server because somebody closed a window."""
    ended = asyncio.Event()
    on_interrupt(ended.set)
    os.kill(os.getpid(), number)
    await asyncio.wait_for(ended.wait(), 30)


async def test_a_command_under_nohup_outlives_its_terminal():
    """An operator started the server to stay, and logged out."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    on_interrupt(lambda: pytest.fail("it was ended"))
    os.kill(os.getpid(), signal.SIGHUP)
    await asyncio.sleep(0.05)


def test_a_backend_that_does_not_exist_is_one_line_with_those_that_do():
    """A designer who mistypes it reads what to write instead."""
    assert backend_named("ces") == "ces"
    with pytest.raises(ConfigError, match="--backend cse: no such server; it is infermedica or ces"):
        backend_named("cse")
