"""The local server as Google CES: what it takes, what it refuses, and that everything it sends is in the definition."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.wire import judge
from voice.server.flow_file import parse
from voice.server.rules import ServerRules
from voice.server.serve import FlowServer
from voice.timeloop import run_virtual
from voice.wire import paths

FLOW = parse("""
[flow]
name = "shop"
opening = "hello"
[pace]
chars = 8
seconds = 0.1
thinking = 0.5
[[step]]
id = "hello"
next = "order"
messages = [{ kind = "intro", text = "Hello. What is it?" }]
[[step]]
id = "order"
expect = "choices"
tries = 1
next = "end"
messages = [
  { kind = "acknowledgement", text = "Thank you." },
  { kind = "follow_up", text = "Shall I show the map?" },
]
branch.map.match = ["map"]
branch.map.next = "map"
branch.away.match = ["away"]
branch.away.next = "away"
[[step]]
id = "map"
next = "end"
messages = [{ kind = "follow_up", text = "Here it comes." }]
[step.ces]
tools = [{ name = "open_map", args = { lat = 48.85 } }, { name = "find", toolset = "crm" }]
citations = [{ uri = "https://example.com", title = "T", text = "x", requires_attribution = true }]
searches = [{ query = "q", uri = "https://example.com/q" }]
html = ["<div>q</div>"]
payload = { card = 1 }
[[step]]
id = "away"
next = "end"
messages = [{ kind = "follow_up", text = "I will be back." }]
[step.ces]
go_away = true
[[step]]
id = "end"
end = "completed"
messages = [{ kind = "follow_up", text = "Goodbye." }]
[step.ces]
metadata = { reason = "done", session_escalated = true }
""")
SESSION = "projects/p/locations/us/apps/demo/sessions/call-1"
OPEN = {"realtimeInput": {"event": {"event": "session_start"}}}


class Client:
    """Speaks plain frames; every frame of the server goes before the judge."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket, self.frames = socket, []

    async def send(self, *frames: Any) -> None:
        for frame in frames:
            await self.socket.send(frame if isinstance(frame, str | bytes) else json.dumps(frame))

    async def read(self, seconds: float) -> list[dict[str, Any]]:
        """What comes within `seconds`."""
        found: list[dict[str, Any]] = []
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while True:
                    frame = json.loads(await self.socket.recv())
                    judge.strictly("server", frame)
                    found.append(frame)
        return found


@contextlib.asynccontextmanager
async def served(**how: Any) -> AsyncIterator[FlowServer]:
    server = FlowServer(FLOW, **how)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


@contextlib.asynccontextmanager
async def client_of(
    server: FlowServer, session: str = SESSION, location: str = "us", token: str = "", **config: Any
) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {token}"} if token else None
    async with connect(f"{server.url}{paths.CES}{location}", additional_headers=headers, ping_interval=None) as socket:
        client = Client(socket)
        await client.send({"config": {"session": session, **config}})
        yield client


def said(text: str) -> dict[str, Any]:
    return {"realtimeInput": {"text": text}}


def texts(frames: list[dict[str, Any]]) -> list[tuple[int, str]]:
    outputs = [frame["sessionOutput"] for frame in frames if "sessionOutput" in frame]
    return [(output["turnIndex"], output["text"]) for output in outputs if "text" in output]


def ends(frames: list[dict[str, Any]]) -> list[int]:
    outputs = [frame["sessionOutput"] for frame in frames if "sessionOutput" in frame]
    return [output["turnIndex"] for output in outputs if output.get("turnCompleted")]


class TestTurns:
    def test_it_is_silent_until_the_first_input(self) -> None:
        """Hurts whoever tests a client here that would wait for ever there."""

        async def main() -> None:
            async with served() as server, client_of(server) as client:
                assert await client.read(60) == []
                await client.send(OPEN)
                frames = await client.read(5)
                assert texts(frames) == [(1, "Hello. What is it?")]
                assert ends(frames) == [1]

        run_virtual(main())

    def test_each_message_is_a_whole_text_and_the_end_has_the_diagnostics(self) -> None:
        async def main() -> None:
            async with served() as server, client_of(server) as client:
                await client.send(OPEN)
                await client.read(5)
                await client.send(said("an order"))
                frames = await client.read(5)
                assert texts(frames) == [(2, "Thank you."), (2, "Shall I show the map?")]
                (last,) = [one["sessionOutput"] for one in frames if "turnCompleted" in one["sessionOutput"]]
                told = last["diagnosticInfo"]["messages"]
                assert [message["role"] for message in told] == ["user", "agent", "agent"]
                assert last["diagnosticInfo"]["rootSpan"]["name"] == "turn"

        run_virtual(main())

    def test_streamed_fragments_join_without_a_separator(self) -> None:
        async def main() -> None:
            async with served() as server, client_of(server, enableTextStreaming=True) as client:
                await client.send(OPEN)
                await client.read(5)
                await client.send(said("an order"))
                frames = await client.read(5)
                assert len(texts(frames)) > 3
                assert "".join(text for _, text in texts(frames)) == "Thank you. Shall I show the map?"

        run_virtual(main())

    @pytest.mark.parametrize("signal", ["yes", "no"])
    def test_a_new_text_replaces_the_answer_under_way(self, signal: str) -> None:
        async def main() -> None:
            assume = {"new_text.signal": signal}
            async with served(assume=assume) as server, client_of(server, enableTextStreaming=True) as client:
                await client.send(OPEN)
                await client.read(0.7)
                await client.send(said("an order"))
                frames = await client.read(5)
                assert [frame for frame in frames if "interruptionSignal" in frame] == (
                    [{"interruptionSignal": {}}] if signal == "yes" else []
                )
                assert ends(frames) == [1, 2]

        run_virtual(main())

    def test_the_end_of_the_session_is_told_and_its_name_is_used_up(self) -> None:
        async def main() -> None:
            async with served() as server:
                async with client_of(server) as client:
                    await client.send(OPEN, said("an order"))
                    await client.read(5)
                    await client.send(said("no"))
                    frames = await client.read(3)
                    assert frames[-1] == {"endSession": {"metadata": {"reason": "done", "session_escalated": True}}}
                    await client.send(said("more"))
                    assert await client.read(1) == []
                async with client_of(server) as client:
                    with pytest.raises(ConnectionClosed) as closed:
                        await client.read(5)
                    assert closed.value.rcvd is not None
                    assert closed.value.rcvd.code == 1007
                    assert "generic::failed_precondition" in closed.value.rcvd.reason

        run_virtual(main())

    def test_it_may_stand_in_the_last_output_instead(self) -> None:
        async def main() -> None:
            async with served(assume={"end_session.place": "output"}) as server, client_of(server) as client:
                await client.send(OPEN, said("an order"))
                await client.read(5)
                await client.send(said("no"))
                (last,) = [one for one in await client.read(3) if "endSession" in one["sessionOutput"]]
                assert last["sessionOutput"]["turnCompleted"] is True

        run_virtual(main())


class TestExtras:
    def test_a_flow_reaches_every_member_and_waits_for_its_tools(self) -> None:
        async def main() -> None:
            async with served() as server, client_of(server) as client:
                await client.send(OPEN, said("an order"))
                await client.read(5)
                await client.send(said("the map"))
                frames = await client.read(5)
                members = {name for frame in frames for name in frame["sessionOutput"]}
                assert {"toolCalls", "citations", "googleSearchSuggestions", "payload"} <= members
                (calls,) = [
                    frame["sessionOutput"]["toolCalls"]["toolCalls"]
                    for frame in frames
                    if "toolCalls" in frame["sessionOutput"]
                ]
                app = SESSION.partition("/sessions/")[0]
                assert calls[0]["tool"] == f"{app}/tools/open_map"
                assert calls[1]["toolsetTool"] == {"toolset": f"{app}/toolsets/crm", "toolId": "find"}
                for number, call in enumerate(calls):
                    assert await client.read(5) == []
                    answer = {key: call[key] for key in ("id", "tool", "toolsetTool", "displayName") if key in call}
                    answer["response"] = {"output": number}
                    await client.send({"realtimeInput": {"toolResponses": {"toolResponses": [answer]}}})
                assert texts(await client.read(3)) == [(4, "Goodbye.")]

        run_virtual(main())

    def test_it_goes_away_and_the_next_connection_goes_on_with_the_count(self) -> None:
        async def main() -> None:
            async with served() as server:
                async with client_of(server) as client:
                    await client.send(OPEN, said("an order"))
                    await client.read(5)
                    await client.send(said("away"))
                    frames = [json.loads(frame) async for frame in client.socket if frame]
                    assert frames[-1] == {"goAway": {}}
                async with client_of(server) as client:
                    await client.send(said("I am back"))
                    assert texts(await client.read(3)) == [(4, "Goodbye.")]

        run_virtual(main())

    def test_keys_events_and_variables_are_taken(self) -> None:
        async def main() -> None:
            async with served() as server, client_of(server) as client:
                await client.send({"realtimeInput": {"variables": {"tier": "gold"}}}, OPEN)
                await client.read(5)
                await client.send({"realtimeInput": {"dtmf": "12#"}})
                assert texts(await client.read(5))[0] == (2, "Thank you.")
                assert server.sessions[SESSION].variables == {"tier": "gold"}

        run_virtual(main())


REFUSED: Mapping[str, Any] = {
    "not JSON": "x",
    "no config": {"realtimeInput": {"text": "a"}},
    "a bad name": {"config": {"session": "projects/p/locations/us/apps/demo/sessions/abc"}},
    "an unknown field": {"config": {"session": SESSION, "excludeDiagnosticInfo": True}},
    "audio": {"config": {"session": SESSION, "inputAudioConfig": {"audioEncoding": "LINEAR16"}}},
    "another location": {"config": {"session": SESSION.replace("/us/", "/eu/")}},
}
REFUSED_LATER: Mapping[str, Any] = {
    "a second config": {"config": {"session": SESSION}},
    "two members": {"realtimeInput": {"text": "a", "variables": {"b": 1}}},
    "no member": {"realtimeInput": {}},
    "an empty text": {"realtimeInput": {"text": ""}},
    "a bare event": {"realtimeInput": {"event": "session_start"}},
    "a bare list": {"realtimeInput": {"toolResponses": []}},
    "an unknown field": {"realtimeInput": {"text": "a", "mood": "b"}},
    "an answer to no call": {
        "realtimeInput": {"toolResponses": {"toolResponses": [{"id": "x", "tool": "t", "response": {"output": 1}}]}}
    },
}


class TestRefusals:
    """The real server closes at the first frame that its definition does not have: a client must not learn that
    elsewhere."""

    @pytest.mark.parametrize("name", [*REFUSED, *REFUSED_LATER])
    def test_it_closes_with_1007_and_the_word_for_it(self, name: str) -> None:
        frames = [REFUSED[name]] if name in REFUSED and "an unknown" not in name else [{"config": {"session": SESSION}}]
        frames += [REFUSED_LATER[name]] if name in REFUSED_LATER else []

        async def main() -> None:
            async with served() as server, connect(f"{server.url}{paths.CES}us", ping_interval=None) as socket:
                client = Client(socket)
                await client.send(*frames)
                with pytest.raises(ConnectionClosed) as closed:
                    await client.read(20)
                assert closed.value.rcvd is not None
                assert closed.value.rcvd.code == 1007
                assert "generic::" in closed.value.rcvd.reason

        run_virtual(main())

    def test_without_the_token_there_is_no_upgrade(self) -> None:
        async def main() -> None:
            async with served(token="tok-1") as server:
                with pytest.raises(InvalidStatus) as refused:
                    async with client_of(server):
                        pass
                assert refused.value.response.status_code == 401
                async with client_of(server, token="tok-1") as client:
                    await client.send(OPEN)
                    assert await client.read(5)

        run_virtual(main())

    def test_who_says_nothing_is_not_kept(self) -> None:
        async def main() -> None:
            rules = ServerRules(first_frame_timeout=5)
            async with served(rules=rules) as server, connect(f"{server.url}{paths.CES}us") as socket:
                with pytest.raises(ConnectionClosed):
                    await socket.recv()

        run_virtual(main())


@pytest.mark.parametrize("choice", [{"frames": "binary"}, {"turn_index.reconnect": "restarts"}])
def test_the_other_choices_of_the_table_are_served(choice: dict[str, str]) -> None:
    """Hurts whoever has to be ready for both."""

    async def main() -> None:
        async with served(assume=choice) as server:
            async with client_of(server) as client:
                await client.send(OPEN)
                assert texts(await client.read(5)) == [(1, "Hello. What is it?")]
            async with client_of(server) as client:
                await client.send(said("an order"))
                if "frames" in choice:
                    assert isinstance(await client.socket.recv(), bytes)
                else:
                    assert texts(await client.read(5))[0] == (1, "Thank you.")

    run_virtual(main())
