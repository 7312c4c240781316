"""C3: the link keeps nothing of what is done."""

from __future__ import annotations

import gc
import json
import tracemalloc
from itertools import pairwise

from websockets.asyncio.server import ServerConnection

from tests.wire.lab import accepted, client_of, odd_server, said, snapshot
from voice.core.events import LinkUp
from voice.timeloop import run_virtual


def test_a_thousand_messages_leave_nothing_behind() -> None:
    """C3. Hurts the kiosk that runs for months."""

    async def script(socket: ServerConnection, number: int) -> None:
        await socket.recv()
        await socket.send(snapshot())
        async for frame in socket:
            await socket.send(accepted(json.loads(frame)["user_message"]["id"]))

    async def main() -> None:
        async with odd_server(script) as url, client_of(url) as client:
            await client.until(LinkUp)
            kept = []
            tracemalloc.start()
            for block in range(5):
                for number in range(500):
                    client.link.send(said(1000 * block + number))
                await client.link.flushed()
                client.events.clear()
                gc.collect()
                kept.append(tracemalloc.get_traced_memory()[0])
            tracemalloc.stop()
            growth = [later - earlier for earlier, later in pairwise(kept)]
            # A leak shows in every block (500 ids alone are 45,000 bytes); caches of the libraries do not.
            assert min(growth) < 10_000

    run_virtual(main())
