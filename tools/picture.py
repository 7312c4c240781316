"""Makes docs/demo-timeline.png: the first rows of the timeline that the demo draws.

usage: python tools/picture.py
"""

import io
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

PLACE = Path(__file__).resolve().parent.parent / "docs" / "demo-timeline.png"
HEIGHT = 1243
"""Pixels of the picture that are kept: its head and three rows, 30 s of the conversation."""
WIDTH = 1400
"""Pixels; twice what a page shows, for fine screens."""


def main() -> None:
    """Hold the demo in the room, cut its picture and write it."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["voice", "demo", "--room", "--fast", "--out", folder]
        subprocess.run([Path(sys.executable).with_name(command[0]), *command[1:]], check=True)
        whole = Image.open(Path(folder) / "timeline.png").convert("RGB")
    rows = whole.crop((0, 0, whole.width, HEIGHT))
    small = rows.resize((WIDTH, round(rows.height * WIDTH / rows.width)), Image.Resampling.LANCZOS)
    content = io.BytesIO()
    small.quantize(128).save(content, "png", optimize=True)
    PLACE.write_bytes(content.getvalue())
    print(f"{PLACE.name}: {len(content.getvalue()) // 1024} KiB")


if __name__ == "__main__":
    main()
