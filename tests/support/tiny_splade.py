"""A masked language model of seven word pieces, as ONNX, whose outputs are written down here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
from tokenizers import Tokenizer, models, pre_tokenizers, processors

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

WORDS = ["[UNK]", "[CLS]", "[SEP]", "a", "pump", "runs", "dry"]
_E = np.e
LOGITS = np.array(
    [
        # What the model says of each word piece, for a token that is:
        [0, 0, 0, 0, 0, 0, 0],  # [UNK]
        [0, 0, 0, 0, -2, 0, 0],  # [CLS]
        [0, 0, 0, 0, 0, 0, -3],  # [SEP]
        [0, 0, 0, 0, 0, 0, 0],  # a
        [0, 0, 0, 0, _E - 1, 0, _E**0.5 - 1],  # pump
        [0, 0, 0, 0, -1, _E**2 - 1, 0],  # runs
        [0, 0, 0, 0, 0, 0, _E - 1],  # dry
    ],
    dtype=np.float32,
)


def write_model(folder: Path, logits: NDArray[np.float32] = LOGITS) -> None:
    """Write ``model.onnx`` and ``tokenizer.json``."""
    folder.mkdir(exist_ok=True)
    (folder / "model.onnx").write_bytes(_looks_up(logits))
    tokenizer = Tokenizer(models.WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))


def _looks_up(logits: NDArray[np.float32]) -> bytes:
    """A model that gives the row of each token."""
    helper, kinds = onnx.helper, onnx.TensorProto
    graph = helper.make_graph(
        [helper.make_node("Gather", ["logits", "input_ids"], ["output"])],
        "tiny",
        [helper.make_tensor_value_info("input_ids", kinds.INT64, ["batch", "tokens"])],
        [helper.make_tensor_value_info("output", kinds.FLOAT, ["batch", "tokens", *logits.shape[1:]])],
        [onnx.numpy_helper.from_array(logits, "logits")],
    )
    opset = [helper.make_opsetid("", 17)]
    return bytes(helper.make_model(graph, opset_imports=opset, ir_version=8).SerializeToString())
