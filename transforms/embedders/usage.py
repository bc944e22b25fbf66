"""Whether a server counts the tokens that were sent to it: one that counts fewer has cut texts off."""

from __future__ import annotations

import logging
import threading

_LOG = logging.getLogger(__name__)


class Usage:
    """Compares the server's counts with our own and remembers what to tell a person. Thread-safe.

    A server adds a few special tokens to each text, which would hide a text that it cut by less; so the first
    request whose count is ours and a constant for each text says how many, and later ones are held to that.

    Args:
        exact: our counts are of the model's own tokenizer; others say nothing about cuts.
    """

    def __init__(self, *, exact: bool) -> None:
        self._exact = exact
        self._added: int | None = None
        self._told = False
        self._notices: list[str] = []
        self._lock = threading.Lock()

    def compare(self, counted: int, sent: int, texts: int) -> None:
        """``counted`` by the server for a request of ``texts`` texts of ``sent`` tokens in all."""
        if not self._exact:
            return
        with self._lock:
            expected = sent + (self._added or 0) * texts
            added, rest = divmod(counted - sent, texts)
            if counted < expected:
                self._tell(
                    f"The server counted {counted:,} tokens where {expected:,} were sent: it may cut texts off without "
                    "saying so. Lower max_tokens if it does."
                )
            elif rest or added != (self._added or added):
                # Its tokenizer is not quite ours: only fewer tokens than the text has mean something.
                self._added = 0
            elif self._added is None:
                self._added = added

    def notices(self) -> list[str]:
        """What is new since this was last asked."""
        with self._lock:
            new, self._notices = self._notices, []
            return new

    def tell(self, sentence: str) -> None:
        """Tell a person, the first time that there is something to tell."""
        with self._lock:
            self._tell(sentence)

    def _tell(self, sentence: str) -> None:
        if self._told:
            return
        self._told = True
        self._notices.append(sentence)
        _LOG.warning("%s", sentence)
