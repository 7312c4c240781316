"""What a real server may do on a bad day, to order: each fault of a flow does what it says."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from tests.server.raw import CREATE, create, raw, types
from tests.wire.lab import FLOW, flow_server
from voice.timeloop import run_virtual

WIDGET = (
    '{ kind = "follow_up", text = "Since which day have you had it?", widgets = [{ type = "hints", hints = ["a"] }] }'
)


WITH_WIDGET = FLOW.replace('{ kind = "follow_up", text = "Since which day have you had it?" }', WIDGET)


class TestFaults:
    """What a real server may do on a bad day, to order."""

    @staticmethod
    def one_turn(fault: str, flow: str = FLOW, **settings: Any) -> list[Any]:
        async def main() -> list[Any]:
            async with (
                flow_server(f"[step.faults]\n{fault}\n", flow=flow) as server,
                raw(server, create(**settings)) as client,
            ):
                await client.next()
                await client.say(1)
                with contextlib.suppress(ConnectionClosed):
                    while not client.frames[-1]["type"].startswith("conversation.turn."):
                        await client.next()
                return client.frames[1:]

        return run_virtual(main())

    @pytest.mark.parametrize("frames", [1, 2, 5])
    def test_the_socket_drops_after_so_many_frames_of_the_turn(self, frames: int) -> None:
        seen = self.one_turn(f"drop_after = {frames}")
        assert len(seen) == frames + 1  # and the acceptance before them

    def test_a_delay(self) -> None:
        async def main() -> None:
            async with flow_server("[step.faults]\ndelay = 30\n") as server, raw(server, CREATE) as client:
                await client.say(1)
                await client.until("conversation.assistant_message.delta")
                assert asyncio.get_running_loop().time() == pytest.approx(30.5)

        run_virtual(main())

    def test_a_delta_comes_twice(self) -> None:
        deltas = [
            f["assistant_message"]["delta"] for f in self.one_turn("duplicate_delta = true") if "delta" in f["type"]
        ]
        assert deltas[:3] == ["Thank yo", "Thank yo", "u."]

    def test_a_frame_that_is_no_json(self) -> None:
        assert types(self.one_turn("malformed = true")).count("(not JSON)") == 2

    def test_completed_differs_from_the_deltas(self) -> None:
        done = [f for f in self.one_turn('other_text = "it, please?"') if f["type"].endswith("message.completed")]
        assert done[1]["assistant_message"]["content_parts"][0]["text"] == "Since which day have youit, please?"

    def test_completed_comes_without_deltas(self) -> None:
        seen = types(self.one_turn("no_deltas = true"))
        assert "assistant_message.delta" not in seen
        assert seen.count("assistant_message.completed") == 2

    def test_the_widget_comes_before_the_text(self) -> None:
        seen = types(self.one_turn("widgets_first = true", WITH_WIDGET, ui_widgets_enabled=True))
        assert seen.index("assistant_message.ui_widget") == 4
        seen = types(self.one_turn("", WITH_WIDGET, ui_widgets_enabled=True))
        assert seen.index("assistant_message.ui_widget") == 8
        assert "assistant_message.ui_widget" not in types(self.one_turn("", WITH_WIDGET))

    def test_the_turn_fails_and_the_same_words_may_be_said_again(self) -> None:
        seen = self.one_turn("fail = true")
        assert seen[-1]["type"] == "conversation.turn.failed"
        assert seen[-1]["error"]["code"] == "engine_unavailable"

    def test_events_of_a_preempted_turn_come_late(self) -> None:
        async def main() -> None:
            async with flow_server("[step.faults]\nlate_events = 2\n") as server, raw(server, CREATE) as client:
                await client.next()
                await client.say(1)
                old = (await client.until("conversation.assistant_message.delta"))["assistant_message"]["turn_id"]
                frames = await client.turn(2)
                assert types(frames)[:4] == [
                    "turn.interrupted",
                    "user_message.created",
                    "assistant_message.delta",
                    "assistant_message.completed",
                ]
                assert [frame["assistant_message"]["turn_id"] for frame in frames[2:4]] == [old, old]

        run_virtual(main())
