"""From a configuration and options to a conversation."""

from voice.app.parts import make_conversation
from voice.audio.room import Room
from voice.config import Config
from voice.timeloop import run_virtual


def test_an_address_that_is_empty_is_no_address():
    """A script's variable that is not set would hold the conversation with whatever listens on this machine."""

    async def main() -> str:
        return await make_conversation(Config(), Room(), url="").run()

    assert "not a WebSocket address" in run_virtual(main())
