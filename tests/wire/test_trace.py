from __future__ import annotations

import re

from voice.wire.trace import traceparent


def test_a_value_has_the_form_of_the_w3c() -> None:
    """Hurts whoever looks for a user's turn in the server's traces."""
    assert re.fullmatch(r"00-[0-9a-f]{32}-[0-9a-f]{16}-01", traceparent())


def test_an_id_of_zeros_is_drawn_again() -> None:
    """An id of zeros is invalid: the server would throw the whole value away."""
    draws = iter([bytes(16), b"\x01" * 16, bytes(8), bytes(8), b"\x02" * 8])
    assert traceparent(lambda n: next(draws)) == f"00-{'01' * 16}-{'02' * 8}-01"
