"""The local conversation server: sockets on 127.0.0.1, conversations in memory, every rule elsewhere.

One port speaks both protocols: the path of the upgrade says which, as it does at the real servers.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import http
import itertools
import logging
import uuid
from collections.abc import Callable, Mapping
from weakref import WeakKeyDictionary

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from voice.server.ces_sessions import CesSession, CesSessions
from voice.server.ces_socket import CesSocket
from voice.server.conversations import Conversations
from voice.server.engine import Engine
from voice.server.flow import Flow
from voice.server.infermedica import Frames
from voice.server.infermedica_socket import InfermedicaSocket
from voice.server.peer import Arrival, Faultless, FramePlan, Peer, Planner, Refuse, Wait
from voice.server.rules import ServerRules
from voice.server.session import HostedConversation
from voice.wire import ces_spellings, paths
from voice.wire.assumptions import Assumptions
from voice.wire.spellings import ASSUMED

HOST = "127.0.0.1"

_SILENT = logging.Logger("voice.server.socket", logging.CRITICAL + 1)
"""The library logs headers and frames at debug level: tokens and health data. It gets no logger."""

_POLICY_VIOLATION = 1008
"""The documented close code of a failed authentication."""

_STOP_WITHIN = 2.0
"""Seconds for the closing handshakes of all connections."""


class FlowServer:
    """Serves one flow. With a `token`, the upgrade needs `Authorization: Bearer <token>`; port 0 takes a free one."""

    def __init__(
        self,
        flow: Flow,
        *,
        token: str | None = None,
        port: int = 0,
        rules: ServerRules | None = None,
        assume: Mapping[str, str] | None = None,
        new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
        plan: Planner | None = None,
    ) -> None:
        """`assume`: choices of the two tables of assumptions that differ from the tables' own. Raises AssumptionError.

        `plan` decides what becomes of the frames of each connection (voice/server/peer.py).
        """
        self._token, self._port = token, port
        ces = {name: value for name, value in (assume or {}).items() if name in ces_spellings.ASSUMED}
        others = {name: value for name, value in (assume or {}).items() if name not in ces}
        self._rules = rules or ServerRules()
        self._assumed, self._ces = Assumptions(ASSUMED, others), Assumptions(ces_spellings.ASSUMED, ces)
        self._plan, self._arrivals = plan, itertools.count()
        self._plans: WeakKeyDictionary[ServerConnection, FramePlan] = WeakKeyDictionary()
        engine, most = Engine(flow), self._rules.most_conversations
        self._conversations = Conversations(engine, self._assumed, new_id, most)
        self._sessions = CesSessions(engine, self._ces, new_id, most)
        self.sockets: set[ServerConnection] = set()
        """Open now."""
        self._server: Server | None = None

    @property
    def conversations(self) -> Mapping[str, HostedConversation]:
        """By id, the one used last at the end. `.received` holds what arrived."""
        return self._conversations.by_id

    @property
    def sessions(self) -> Mapping[str, CesSession]:
        """Those of the CES protocol, by name. `.inputs` holds what arrived."""
        return self._sessions.by_name

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
            server.close(code=int(self._assumed["close.going_away"]))
            with contextlib.suppress(TimeoutError):  # whoever connected and never said a word is waited for no longer
                async with asyncio.timeout(_STOP_WITHIN):
                    await server.wait_closed()
        await self._conversations.close()
        await self._sessions.close()

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

    async def _upgrade(self, connection: ServerConnection, request: Request) -> Response | None:
        plan = self._plan(Arrival("websocket", request.path, next(self._arrivals))) if self._plan else None
        self._plans[connection] = plan or Faultless()
        for deed in self._plans[connection].opened():
            if isinstance(deed, Refuse):
                return connection.respond(http.HTTPStatus(deed.status), "refused\n")
            if isinstance(deed, Wait):
                await asyncio.sleep(deed.seconds)
            else:
                connection.transport.abort()
        ces = request.path.startswith(paths.CES)
        if (ces or self._assumed["refusal.style"] == "http") and not self._authorised(request):
            status = self._ces["refused_upgrade"] if ces else self._assumed["refusal.http_status"]
            return connection.respond(http.HTTPStatus(int(status)), "refused\n")
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

    async def _serve(self, socket: ServerConnection) -> None:
        plan, most = self._plans[socket], self._rules.most_queued
        path = socket.request.path if socket.request is not None else ""
        if path.startswith(paths.CES):
            location = path.removeprefix(paths.CES)
            peer = Peer(socket, plan, lambda event: (), most)
            await CesSocket(peer, self._sessions, self._ces, self._rules, location).serve()
            return
        frames = Frames(self._assumed)
        peer = Peer(socket, plan, frames.frames_of, most)
        await InfermedicaSocket(peer, self._conversations, self._assumed, self._rules).serve()
