"""Throw what a coverage-guided fuzzer invents at one codec: no exception may leave it. `make fuzz` runs both.

usage: python tools/fuzz.py infermedica|ces [libFuzzer's options]     e.g. -max_total_time=60

It begins with the documented frames. What breaks a codec is written to a file `crash-*` and makes the run fail.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports():
    from voice.wire import infermedica
    from voice.wire.ces import CesCodec

ROOT = Path(__file__).resolve().parent.parent


def seeds(folder: Path) -> None:
    """Write the documented frames as the first inputs."""
    for number, line in enumerate((ROOT / "tests/wire/documented_ces.jsonl").read_text("utf-8").splitlines()):
        (folder / str(number)).write_text(json.dumps(json.loads(line)["frame"]), encoding="utf-8")
    for kind in infermedica._HANDLERS:
        (folder / kind).write_text(json.dumps({"type": kind, "assistant_message": {"id": "a", "turn_id": "t"}}))


def main() -> None:
    """Fuzz until the options say that it is enough."""
    backend = sys.argv.pop(1) if len(sys.argv) > 1 else ""
    if backend not in ("infermedica", "ces"):
        sys.exit("name the codec: infermedica or ces")

    def one(data: bytes) -> None:
        decode = CesCodec().decode if backend == "ces" else infermedica.decode
        for line in data.split(b"\n"):
            decode(line)

    with tempfile.TemporaryDirectory() as folder:
        seeds(Path(folder))
        atheris.Setup([*sys.argv, folder], one)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
