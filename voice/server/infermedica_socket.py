"""One WebSocket of Infermedica Conversational Triage v2: bind a conversation, take frames, ask for signs of life."""

from __future__ import annotations

import asyncio

from voice.core.server_events import Ping
from voice.server.conversations import Conversations
from voice.server.infermedica import Frames, Refused, read_frame
from voice.server.inputs import changed
from voice.server.peer import Frame, Peer
from voice.server.rules import ServerRules
from voice.server.session import HostedConversation
from voice.wire.assumptions import Assumptions

_NO_FIRST_FRAME = 1002
"""Close code for a client that says nothing: it may have a bad line, and should not think that its token is bad."""


class InfermedicaSocket:
    """Serves the client at the other end of `peer` until it has gone."""

    def __init__(self, peer: Peer, conversations: Conversations, assumed: Assumptions, rules: ServerRules) -> None:
        self._peer, self._conversations, self._assumed, self._rules = peer, conversations, assumed, rules
        self._frames = Frames(assumed)
        self._unanswered = 0
        """Pings."""

    async def serve(self) -> None:
        """Raises ConnectionClosed at the end."""
        try:
            async with asyncio.timeout(self._rules.first_frame_timeout):
                first = await self._peer.receive()
        except TimeoutError:
            await self._peer.close(_NO_FIRST_FRAME)
            return
        try:
            conversation = self._bound(first)
        except Refused as refused:
            self._peer.put_frame(self._frames.error(refused))
            self._peer.put_close(int(self._assumed["close.handshake_refused"]))
            await self._peer.write()
            return
        tasks = [asyncio.create_task(self._peer.write()), asyncio.create_task(self._beat())]
        try:
            while True:
                self._take(await self._peer.receive(), conversation)
                await asyncio.sleep(0)  # frames that are here already come without a pause, and others wait, too
        finally:
            conversation.unfollow(self._peer)
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    def _bound(self, first: Frame) -> HostedConversation:
        given = self._frames.first(read_frame(first))
        if isinstance(given, str):
            found = self._conversations.find(given)
            self._peer.put_frame(self._frames.snapshot(found, resumed=True))
            found.follow(self._peer)
            return found
        conversation = self._conversations.create(given)
        conversation.open()  # its events, if any, come after a pause, and so behind the snapshot
        self._peer.put_frame(self._frames.snapshot(conversation, resumed=False))
        conversation.follow(self._peer)
        return conversation

    def _take(self, text: Frame, conversation: HostedConversation) -> None:
        try:
            frame = read_frame(text)
            kind = self._frames.later(frame)
            if kind == "pong":
                self._unanswered = 0
            elif kind == "message":
                message = self._frames.user_message(frame, conversation)
                conversation.receive(message, asyncio.get_running_loop().time())
            else:
                conversation.change_settings(changed(conversation.settings, self._frames.settings(frame)))
        except Refused as refused:
            self._peer.put_frame(self._frames.error(refused))

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(self._rules.ping_interval)
            if self._unanswered >= self._rules.missed_pongs:
                await self._peer.close(int(self._assumed["close.no_pong"]))
                return
            self._unanswered += 1
            self._peer.put(Ping())
