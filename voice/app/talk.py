"""Hands-free: a conversation with a server through the sound card, until it is over or the user ends it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

from voice.app.conversation import Conversation, Observer
from voice.app.folder import check_folder, report_into
from voice.app.link import url_of
from voice.app.parts import make_conversation
from voice.audio.device import SoundCard
from voice.audio.portaudio import check_sound_card
from voice.config import Config
from voice.report.record import Record
from voice.report.write import Written

ORDERLY = ("completed", "terminated", "shutdown")
"""Ends of a conversation that somebody wanted; any other is a reason why it could not go on."""


class TalkError(Exception):
    """The conversation could not go on; one line."""


async def talk(
    config: Config,
    url: str | None,
    report: Path | None,
    observers: tuple[Observer, ...],
    on_interrupt: Callable[[Callable[[], None]], None],
) -> Written | None:
    """Hold one conversation; `report` is a folder, and without one nothing is kept of what was said.

    `on_interrupt` is given what ends the conversation in order: the voice stops, what was heard is settled, and what
    is owed to the server is sent. Raises TalkError when the link is lost for good, and the errors of the parts.
    """
    if report is not None:
        check_folder(report)
    check_sound_card(config.sound.input, config.sound.output)
    card = SoundCard(config.sound.input, config.sound.output)
    record = Record() if report is not None else None
    conversation: Conversation = make_conversation(
        config, card, url=url, observers=(*([record] if record is not None else []), *observers)
    )
    on_interrupt(conversation.shut_down)
    reason = await conversation.run()
    written = None
    if report is not None and record is not None:
        written = await asyncio.to_thread(
            _report, report, record, config, url_of(config) if url is None else url, card.name
        )
    if reason not in ORDERLY:
        raise TalkError(f"the conversation could not go on: {reason}")
    return written


def _report(folder: Path, record: Record, config: Config, url: str, card: str) -> Written:
    return report_into(
        folder,
        record,
        backend=config.server.backend,
        flow=urlsplit(url).hostname or "server",
        device="sound card",
        engines={"voice": config.voice.engine, "recogniser": config.ears.engine, "sound": card},
    )
