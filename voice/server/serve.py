"""The local conversation server: sockets on 127.0.0.1, conversations in memory, every rule elsewhere."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import http
import itertools
import logging
import uuid
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from pydantic import ValidationError
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from voice.core.server_events import Ping
from voice.server import infermedica as frames
from voice.server.engine import Engine
from voice.server.flow import Flow
from voice.server.inputs import ConversationInput, SettingsInput, as_plain, details
from voice.server.peer import Arrival, Faultless, FramePlan, Peer, Planner
from voice.server.rules import ServerRules
from voice.server.session import HostedConversation
from voice.wire.spellings import assumed, read

HOST = "127.0.0.1"

_SILENT = logging.Logger("voice.server.socket", logging.CRITICAL + 1)
"""The library logs headers and frames at debug level: tokens and health data. It gets no logger."""

_POLICY_VIOLATION = 1008
"""The documented close code of a failed authentication."""

_STOP_WITHIN = 2.0
"""Seconds for the closing handshakes of all connections."""


class _Heartbeat:
    """Asks for signs of life, and closes the connection that gives none."""

    def __init__(self, peer: Peer, rules: ServerRules) -> None:
        self._peer, self._rules = peer, rules
        self._unanswered = 0

    def ponged(self) -> None:
        self._unanswered = 0

    async def beat(self) -> None:
        while True:
            await asyncio.sleep(self._rules.ping_interval)
            if self._unanswered >= self._rules.missed_pongs:
                await self._peer.close(int(assumed("close.no_pong")))
                return
            self._unanswered += 1
            self._peer.put(Ping())


class FlowServer:
    """Serves one flow. With a `token`, the upgrade needs `Authorization: Bearer <token>`; port 0 takes a free one."""

    def __init__(
        self,
        flow: Flow,
        *,
        token: str | None = None,
        port: int = 0,
        rules: ServerRules | None = None,
        new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
        plan: Planner | None = None,
    ) -> None:
        """`plan` decides what becomes of the frames of each connection (voice/server/peer.py)."""
        self._engine, self._token, self._port, self._new_id = Engine(flow), token, port, new_id
        self._rules = rules or ServerRules()
        self._plan, self._arrivals = plan, itertools.count()
        self.conversations: OrderedDict[str, HostedConversation] = OrderedDict()
        """By id, the one used last at the end. `.received` holds what arrived."""
        self.sockets: set[ServerConnection] = set()
        """Open now."""
        self._server: Server | None = None

    async def start(self) -> int:
        """Listen; returns the port. Raises OSError when the port is taken."""
        self._server = await serve(
            self._handle,
            HOST,
            self._port,
            process_request=self._upgrade,
            ping_interval=None,  # the protocol has a heartbeat of its own
            close_timeout=1.0,
            max_size=self._rules.max_frame,
            compression=None,
            logger=_SILENT,
        )
        self._port = next(iter(self._server.sockets)).getsockname()[1]
        return self._port

    async def stop(self) -> None:
        """Close every connection and end every turn. Safe to call twice."""
        server, self._server = self._server, None
        if server is not None:
            server.close(code=int(assumed("close.going_away")))
            with contextlib.suppress(TimeoutError):  # whoever connected and never said a word is waited for no longer
                async with asyncio.timeout(_STOP_WITHIN):
                    await server.wait_closed()
        for conversation in list(self.conversations.values()):
            await conversation.close()

    async def drop_sockets(self) -> None:
        """Cut every open connection without a word, as a broken network does; turns go on."""
        for socket in list(self.sockets):
            socket.transport.abort()
        await asyncio.sleep(0)

    @property
    def url(self) -> str:
        """The address to connect to, once started."""
        return f"ws://{HOST}:{self._port}"

    # ------------------------------------------------------------------ one connection

    def _authorised(self, request: Request) -> bool:
        given = request.headers.get("Authorization", "")
        return self._token is None or hmac.compare_digest(given.encode(), f"Bearer {self._token}".encode())

    def _upgrade(self, connection: ServerConnection, request: Request) -> Response | None:
        if self._rules.refusal == "http" and not self._authorised(request):
            return connection.respond(http.HTTPStatus(int(assumed("refusal.http_status"))), "refused\n")
        return None

    async def _handle(self, socket: ServerConnection) -> None:
        if socket.request is None or not self._authorised(socket.request):
            await socket.close(_POLICY_VIOLATION)
            return
        self.sockets.add(socket)
        try:
            await self._serve(socket)
        except ConnectionClosed:
            pass
        finally:
            self.sockets.discard(socket)

    def _plan_of(self, socket: ServerConnection) -> FramePlan:
        path = socket.request.path if socket.request else ""
        made = self._plan(Arrival("websocket", path, next(self._arrivals))) if self._plan else None
        return made or Faultless()

    async def _serve(self, socket: ServerConnection) -> None:
        peer = Peer(socket, self._plan_of(socket), lambda event: (frames.frame_of(event),), self._rules.most_queued)
        try:
            async with asyncio.timeout(self._rules.first_frame_timeout):
                text = await peer.receive()
        except TimeoutError:
            await socket.close(_POLICY_VIOLATION)
            return
        try:
            conversation = self._bound(text, peer)
        except frames.Refused as refused:
            peer.put_frame(refused.frame())
            peer.put_close(int(assumed("close.handshake_refused")))
            await peer.write()
            return
        heart = _Heartbeat(peer, self._rules)
        tasks = [asyncio.create_task(peer.write()), asyncio.create_task(heart.beat())]
        try:
            while True:
                self._take(await peer.receive(), conversation, peer, heart)
                await asyncio.sleep(0)  # frames that are here already come without a pause, and others wait, too
        finally:
            conversation.unfollow(peer)
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    def _bound(self, text: str | bytes, peer: Peer) -> HostedConversation:
        first = frames.first_frame(frames.read_frame(text))
        if isinstance(first, str):
            found = self.conversations.get(first)
            if found is None:
                raise frames.Refused("conversation_not_found", "no such conversation")
            self.conversations.move_to_end(first)
            peer.put_frame(frames.snapshot(found, resumed=True))
            found.follow(peer)
            return found
        conversation = self._created(first)
        if self._rules.opening == "snapshot":
            conversation.open()
        peer.put_frame(frames.snapshot(conversation, resumed=False))
        conversation.follow(peer)
        if self._rules.opening == "events":
            conversation.open()
        return conversation

    def _created(self, given: ConversationInput) -> HostedConversation:
        flow = self._engine.flow
        settings = as_plain(given.settings) | {"max_message_length": flow.max_message_length}
        assessment = as_plain(given.assessment)
        for entry in assessment["evidence"]:
            entry["origin"] = "seeded"
        age = given.assessment.age
        conversation = HostedConversation(
            self._engine,
            settings,
            assessment,
            rules=self._rules,
            new_id=self._new_id,
            age_years=None if age is None else age.years,
        )
        self.conversations[conversation.id] = conversation
        while len(self.conversations) > self._rules.most_conversations:
            _, oldest = self.conversations.popitem(last=False)
            oldest.end()
        return conversation

    def _take(self, text: str | bytes, conversation: HostedConversation, peer: Peer, heart: _Heartbeat) -> None:
        try:
            frame = frames.read_frame(text)
            kind = frames.later_frame(frame)
            if kind == "pong":
                heart.ponged()
            elif kind == "message":
                message = frames.user_message(frame, conversation)
                conversation.receive(message, asyncio.get_running_loop().time())
            else:
                conversation.change_settings(_changed(conversation.settings, read(frame, "path.settings_input")))
        except frames.Refused as refused:
            peer.put_frame(refused.frame())


def _changed(settings: Any, update: Any) -> dict[str, Any]:
    """The settings with those of `update`. Raises Refused."""
    try:
        given = SettingsInput.model_validate(update)
    except ValidationError as error:
        found = details(error, "settings")
        raise frames.Refused("invalid_payload", "1 or more validation errors: settings", found) from None
    return dict(settings) | given.model_dump(mode="json", exclude_unset=True)
