"""The demo: the local server, the program and a person, from the first message to the report.

With a sound card the person is whoever sits in front of it. Without, the room stands in, and a visitor with a list of
lines, on virtual time: what happens does not depend on the machine's speed, and is the same for the same seed.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

from voice.app.conversation import Conversation, Observer
from voice.app.folder import check_folder, report_into
from voice.app.link import path_of
from voice.app.parts import make_conversation
from voice.app.visitor import Visitor, load_visitor
from voice.audio.base import Device
from voice.audio.device import SoundCard
from voice.audio.room import Room
from voice.config import HOME, Config
from voice.report.record import Record
from voice.report.write import Written
from voice.server.flow import Flow
from voice.server.flow_file import load
from voice.server.serve import FlowServer
from voice.timeloop import run_virtual
from voice.wire.paths import Backend

TOKEN = "demo-token"


class DemoError(Exception):
    """The demo did not go as it should; one line."""


@dataclass(frozen=True, slots=True)
class DemoOptions:
    """What to hold and where to write."""

    flow: Path = HOME / "flows" / "triage.toml"
    room: bool = True
    out: Path = Path("out/demo")
    seed: int = 1
    pace: float | None = None
    """Virtual seconds in a real one, in the room; None: as fast as the machine can."""
    config: Config = field(default_factory=Config)

    def speaking(self, backend: Backend) -> DemoOptions:
        """The same over another protocol; the local server takes any application."""
        data = self.config.model_dump(by_alias=True)
        data["server"]["backend"] = backend
        data["ces"]["app"] = data["ces"]["app"] or "projects/local/locations/us/apps/demo"
        return replace(self, config=Config.model_validate(data))

    @property
    def visitor(self) -> Path:
        """The lines of the simulated user stand beside the flow."""
        return self.flow.with_suffix(".visitor.toml")


def run_demo(options: DemoOptions, observers: tuple[Observer, ...] = ()) -> Written:
    """Hold the conversation and write its report. Raises DemoError when the room's conversation did not come to its
    end, and the errors of the parts (FlowError, ConfigError, DeviceError, VoiceError, RecogniserError)."""
    check_folder(options.out)
    if options.room:
        return run_virtual(_in_room(options, observers), pace=options.pace)
    return asyncio.run(_at_sound_card(options, observers))


async def _in_room(options: DemoOptions, observers: tuple[Observer, ...]) -> Written:
    flow, record, room = load(options.flow), Record(), Room(seed=options.seed)
    conversations: list[Conversation] = []
    visitor = Visitor(load_visitor(options.visitor), room, record.meant, lambda: conversations[0].shut_down())
    await visitor.prepare()
    reason = await _hold(options, flow, room, (record, *observers, visitor), conversations.append)
    written = _report(options, record, room, room)
    if visitor.waits_for is not None:
        raise DemoError(f"the conversation ended ({reason}) while the visitor waited to hear “{visitor.waits_for}”")
    if reason == "shutdown":
        raise DemoError(
            f"the visitor has said every line and the server waits for more; add a line to {options.visitor}, "
            f"or let the flow end; see {written.report}"
        )
    if reason not in ("completed", "terminated"):
        raise DemoError(f"the conversation ended before its end: {reason}; see {written.report}")
    return written


async def _at_sound_card(options: DemoOptions, observers: tuple[Observer, ...]) -> Written:
    flow, record = load(options.flow), Record()
    card = SoundCard(options.config.sound.input, options.config.sound.output)
    await _hold(options, flow, card, (record, *observers), lambda conversation: None)
    return _report(options, record, card, None)


async def _hold(
    options: DemoOptions,
    flow: Flow,
    device: Device,
    observers: tuple[Observer, ...],
    made: Callable[[Conversation], None],
) -> str:
    ids = _ids(options.seed)
    server = FlowServer(flow, token=TOKEN, new_id=ids)
    port = await server.start()
    try:
        conversation = make_conversation(
            options.config,
            device,
            url=f"ws://127.0.0.1:{port}{path_of(options.config)}",
            token=TOKEN,
            observers=observers,
            new_id=ids,
        )
        made(conversation)
        return await conversation.run()
    finally:
        await server.stop()


def _report(options: DemoOptions, record: Record, device: Device, room: Room | None) -> Written:
    config = options.config
    return report_into(
        options.out,
        record,
        room,
        backend=config.server.backend,
        flow=options.flow.stem,
        device="room" if room is not None else "sound card",
        engines={"voice": config.voice.engine, "recogniser": config.ears.engine, "sound": device.name},
    )


def _ids(seed: int) -> Callable[[], str]:
    random = Random(seed)
    return lambda: str(uuid.UUID(int=random.getrandbits(128), version=4))
