"""Sentence-transformers models on ONNX Runtime: one text at a time, so that no batch can change a bit.

On a CPU a batch is no faster than its texts one by one (padding is computed too), and a text that is
never padded has the same numbers whatever stands beside it. Several texts are computed at a time, each on
one core: cores that share a text wait for each other.
"""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from transforms.embedders.share import ALONE, Share
from transforms.embedders.wordpieces import TokenizerCounter, load_tokenizer
from transforms.model.errors import ParquetryError
from transforms.model.ids import fingerprint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from tokenizers import Tokenizer

    from transforms.embedders.protocol import Task
    from transforms.embedders.settings import OnnxSettings, TooLong

_PLACES = ("model.onnx", "onnx/model.onnx")


def build(settings: OnnxSettings, share: Share = ALONE) -> OnnxEmbedder:
    """Load the model of a folder.

    Raises:
        ParquetryError: ONNX Runtime is not installed, a file is missing, or the model is of another kind.
    """
    model, tokenizer = _files(settings)
    return OnnxEmbedder(
        name=f"{Path(settings.model_path).name}@{fingerprint(recipe(settings))[:12]}",
        counter_name=f"{Path(settings.model_path).name}-{_sha256(tokenizer)[:8]}",
        tokenizer=load_tokenizer(tokenizer),
        session=open_session(model),
        max_tokens=settings.max_tokens,
        threads=settings.threads or share.cores,
        dimension=settings.dimension,
        pooling=settings.pooling,
        prefixes={"document": settings.document_prefix, "query": settings.query_prefix},
    )


def recipe(settings: OnnxSettings) -> str:
    """As all recipes; the model's name has its fingerprint, so that no two ways of pooling share one."""
    model, tokenizer = _files(settings)
    return (
        f"{Path(settings.model_path).name} model.onnx:{_sha256(model)} tokenizer.json:{_sha256(tokenizer)} "
        f"pooling:{settings.pooling} max_tokens:{settings.max_tokens} dimension:{settings.dimension} "
        f"task:prefix {settings.document_prefix!r} {settings.query_prefix!r}"
    )


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


class OnnxEmbedder:
    """The pooled last hidden state of a transformer, at length 1.

    A text longer than the model's input gets the mean of its parts, weighted by their tokens: none of
    it is cut off. Chunks never are; questions and whole paragraphs may be.
    """

    batch_items = 64
    too_long: TooLong = "split"

    def __init__(
        self,
        *,
        name: str,
        counter_name: str,
        tokenizer: Tokenizer,
        session: Any,
        max_tokens: int,
        threads: int,
        dimension: int | None = None,
        pooling: str = "mean",
        prefixes: dict[str, str] | None = None,
    ) -> None:
        self.name = name
        self.dimension = _shortened(_dimension_of(session), dimension)
        self._threads = threads
        self.counter = TokenizerCounter(counter_name, tokenizer)
        self._tokenizer = tokenizer
        self._session = session
        self._inputs = [value.name for value in session.get_inputs()]
        self._output = session.get_outputs()[0].name
        self._pooling = pooling
        self._prefixes = prefixes or {}
        self._before, self._after = _special_tokens(tokenizer)
        self._unknown = tokenizer.token_to_id("[UNK]")
        self._window = max_tokens - len(self._before) - len(self._after)
        prefixed = max(self.counter.count([*self._prefixes.values(), ""]))
        self.max_tokens = self._window - prefixed
        if self.max_tokens < 1:
            raise ParquetryError(f"max_tokens = {max_tokens} of {name} leaves no room for any text")

    def embed(self, texts: Sequence[str], task: Task = "document") -> NDArray[np.float32]:
        vectors = np.full((len(texts), self.dimension), np.nan, dtype=np.float32)
        prefix = self._prefixes.get(task, "")

        def fill(row: int) -> None:
            ids = self._ids(texts[row])
            if any(number != self._unknown for number in ids):
                vectors[row] = self._vector(self._ids(prefix + texts[row]) if prefix else ids)

        # The longest first: a long one that is begun last would leave the other cores idle.
        rows = sorted(range(len(texts)), key=lambda row: -len(texts[row]))
        if self._threads == 1 or len(texts) < 2:
            for row in rows:
                fill(row)
        else:
            with ThreadPoolExecutor(min(self._threads, len(texts))) as pool:
                list(pool.map(fill, rows))
        return vectors

    def _ids(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def _vector(self, ids: list[int]) -> NDArray[np.float64]:
        # Parts of equal length: a last one of a few tokens would mean nothing.
        count = -(-len(ids) // self._window)
        size = -(-len(ids) // count)
        parts = [ids[first : first + size] for first in range(0, len(ids), size)]
        if len(parts) == 1:
            whole = self._part(parts[0])
        else:
            whole = _at_length_one(np.add.reduce([self._part(part) * len(part) for part in parts]))
        return whole if len(whole) == self.dimension else _at_length_one(whole[: self.dimension])

    def _part(self, ids: list[int]) -> NDArray[np.float64]:
        tokens = np.array([[*self._before, *ids, *self._after]], dtype=np.int64)
        values = {
            "input_ids": tokens,
            "attention_mask": np.ones_like(tokens),
            "token_type_ids": np.zeros_like(tokens),
        }
        (hidden,) = self._session.run([self._output], {name: values[name] for name in self._inputs})
        states = hidden[0].astype(np.float64)
        return _at_length_one(states[0] if self._pooling == "first" else np.add.reduce(states))


def _at_length_one(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    length = float(np.sqrt(np.add.reduce(vector * vector)))
    return vector / length if length else np.full_like(vector, np.nan)


def _shortened(dimension: int, wanted: int | None) -> int:
    if wanted is not None and wanted > dimension:
        raise ParquetryError(f"The model's vectors have {dimension} numbers; dimension = {wanted} is more.")
    return wanted or dimension


def _special_tokens(tokenizer: Tokenizer) -> tuple[list[int], list[int]]:
    """What the tokenizer puts before and after a text."""
    bare = tokenizer.encode("a", add_special_tokens=False).ids
    whole = tokenizer.encode("a").ids
    start = next(at for at in range(len(whole)) if whole[at : at + len(bare)] == bare)
    return whole[:start], whole[start + len(bare) :]


def _dimension_of(session: Any) -> int:
    known = {"input_ids", "attention_mask", "token_type_ids"}
    shape = session.get_outputs()[0].shape
    unknown = [value.name for value in session.get_inputs() if value.name not in known]
    if unknown or len(shape) != 3 or not isinstance(shape[-1], int):
        raise ParquetryError(
            "The model is no sentence-transformers export: it must take input_ids, attention_mask and "
            f"token_type_ids and give the last hidden state, but takes {unknown or 'these'} "
            f"and gives an output of shape {shape}."
        )
    return shape[-1]


def _files(settings: OnnxSettings) -> tuple[bytes, bytes]:
    folder = Path(settings.model_path).expanduser()
    model = next((folder / place for place in _PLACES if (folder / place).is_file()), None)
    tokenizer = folder / "tokenizer.json"
    if model is None or not tokenizer.is_file():
        raise ParquetryError(
            f"The folder {folder} must hold tokenizer.json and model.onnx (or onnx/model.onnx)."
        )
    return model.read_bytes(), tokenizer.read_bytes()


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
