"""A transformer exported as ONNX with its tokenizer: a text to what the model says of each token.

One text at a time, so that no batch can change a bit: on a CPU a batch is no faster than its texts one by one
(padding is computed too), and a text that is never padded has the same numbers whatever stands beside it. Several
texts are computed at a time, each on one core: cores that share a text wait for each other.
"""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from transforms.model.errors import ParquetryError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray
    from tokenizers import Tokenizer

_PLACES = ("model.onnx", "onnx/model.onnx")
_INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """The two files of a model, as bytes."""

    name: str
    """Of their folder."""
    model: bytes
    tokenizer: bytes

    @property
    def recipe(self) -> str:
        """The name with the hashes of both."""
        return f"{self.name} model.onnx:{sha256_of(self.model)} tokenizer.json:{sha256_of(self.tokenizer)}"


def read_files(path: str) -> ModelFiles:
    """The files of the model in a folder.

    Raises:
        ParquetryError: one is missing.
    """
    folder = Path(path).expanduser()
    model = next((folder / place for place in _PLACES if (folder / place).is_file()), None)
    tokenizer = folder / "tokenizer.json"
    if model is None or not tokenizer.is_file():
        raise ParquetryError(
            f"The folder {folder} must hold tokenizer.json and model.onnx (or onnx/model.onnx)."
        )
    return ModelFiles(Path(path).name, model.read_bytes(), tokenizer.read_bytes())


def sha256_of(data: bytes) -> str:
    """64 hex digits."""
    return hashlib.sha256(data).hexdigest()


def open_session(model: bytes) -> Any:
    """An ONNX Runtime session; each run of it takes one core, and several may run at a time.

    Raises:
        ParquetryError: ONNX Runtime is not installed, or cannot load the model.
    """
    try:
        import onnxruntime
    except ImportError as error:
        raise ParquetryError(
            "This embedder needs ONNX Runtime, which is not installed: pip install 'parquetry[minilm]'."
        ) from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise ParquetryError(f"ONNX Runtime cannot load the model: {error}") from error


class Transformer:
    """Runs a model on texts, in parts where they are longer than its input.

    Args:
        tokenizer: without truncation and padding.
        session: of :func:`open_session`.
        max_tokens: the model's input, special tokens included.
        kind: what the model must be, for the message if it is not.
        gives: what its output must be, likewise.

    Raises:
        ParquetryError: the model takes or gives something else.
    """

    def __init__(self, tokenizer: Tokenizer, session: Any, max_tokens: int, kind: str, gives: str) -> None:
        self._tokenizer = tokenizer
        self._session = session
        self._inputs = [value.name for value in session.get_inputs()]
        output = session.get_outputs()[0]
        self._output = output.name
        unknown = [name for name in self._inputs if name not in _INPUTS]
        if unknown or len(output.shape) != 3 or not isinstance(output.shape[-1], int):
            raise ParquetryError(
                f"The model is no {kind} export: it must take input_ids, attention_mask and token_type_ids and give "
                f"{gives}, but takes {unknown or 'these'} and gives an output of shape {output.shape}."
            )
        self.width: int = output.shape[-1]
        """Numbers that the model gives a token."""
        self._before, self._after = _special_tokens(tokenizer)
        self.window = max_tokens - len(self._before) - len(self._after)
        """Tokens of a part at most, special ones left out."""

    def ids(self, text: str) -> list[int]:
        """The ids of a text's tokens, special ones left out."""
        return list(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def piece(self, token: int) -> str:
        """The piece of text that a token stands for."""
        return str(self._tokenizer.id_to_token(token))

    def parts(self, ids: list[int]) -> list[list[int]]:
        """Tokens in parts of about equal length, none over the window: a last one of a few would mean nothing."""
        count = -(-len(ids) // self.window)
        size = -(-len(ids) // max(1, count))
        return [ids[first : first + size] for first in range(0, len(ids), size or 1)]

    def run(self, ids: list[int]) -> NDArray[np.float32]:
        """What the model gives for one part: a row a token, special ones included."""
        tokens = np.array([[*self._before, *ids, *self._after]], dtype=np.int64)
        values = {
            "input_ids": tokens,
            "attention_mask": np.ones_like(tokens),
            "token_type_ids": np.zeros_like(tokens),
        }
        (given,) = self._session.run([self._output], {name: values[name] for name in self._inputs})
        rows: NDArray[np.float32] = given[0]
        return rows


def for_each(texts: Sequence[str], threads: int, do: Callable[[int], None]) -> None:
    """Call ``do`` with the place of each text, on some threads at a time."""
    # The longest first: a long one that is begun last would leave the other cores idle.
    rows = sorted(range(len(texts)), key=lambda row: -len(texts[row]))
    if threads == 1 or len(texts) < 2:
        for row in rows:
            do(row)
        return
    with ThreadPoolExecutor(min(threads, len(texts))) as pool:
        list(pool.map(do, rows))


def _special_tokens(tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
    """What the tokenizer puts before and after a text."""
    bare = tokenizer.encode("a", add_special_tokens=False).ids
    whole = tokenizer.encode("a").ids
    start = next(at for at in range(len(whole)) if whole[at : at + len(bare)] == bare)
    return whole[:start], whole[start + len(bare) :]
