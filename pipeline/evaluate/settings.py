"""The file that says what is evaluated: a job's corpus, questions, and variants of its settings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from pipeline.config import load_config
from pipeline.config.faults import faults_of, line_of
from pipeline.config.load import merged
from pipeline.config.models import JobConfig, SearchConfig, SourceConfig
from pipeline.config.yaml_file import read_yaml
from transforms.embedders.settings import EmbedderSettings
from transforms.model.errors import ConfigError
from transforms.sparse.settings import SparseSettings

_EMBEDDER: TypeAdapter[Any] = TypeAdapter(EmbedderSettings)
_SPARSE: TypeAdapter[Any] = TypeAdapter(SparseSettings)
_SEARCH: TypeAdapter[Any] = TypeAdapter(SearchConfig)


class _Keys(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class VariantKeys(BaseModel):
    """One way to cut and embed: a name, and what differs from the job."""

    model_config = ConfigDict(extra="allow", frozen=True)

    name: str = Field(min_length=1, description="How reports name it.")
    embedder: dict[str, Any] | None = Field(
        default=None, description="Another embedder, with all its keys."
    )
    sparse: dict[str, Any] | None = Field(
        default=None, description="Another sparse encoder, with all its keys."
    )
    search: dict[str, Any] | None = Field(
        default=None, description="Another way to join vectors and words, with all its keys."
    )


class EvaluationConfig(_Keys):
    """The keys of the file. Keys of a variant besides these are keys of a source."""

    version: Annotated[int, Field(ge=1, le=1)] = 1
    job: Path = Field(
        description="The job's file: its sources are the corpus, its settings what variants start from."
    )
    questions: Path = Field(description="Questions with known answers, JSON Lines.")
    variants: tuple[VariantKeys, ...] = Field(
        default=(VariantKeys(name="as the job"),), min_length=1, description="What is compared."
    )
    at: tuple[Annotated[int, Field(ge=1)], ...] = Field(
        default=(1, 3, 5, 10), min_length=1, description="Numbers k of recall@k and ndcg@k."
    )
    retrieved_words: Annotated[int, Field(ge=1)] = Field(
        default=400, description="Words that are retrieved for the measures over spans."
    )
    samples: Annotated[int, Field(ge=1)] = Field(
        default=1000, description="Samples of questions for the intervals."
    )


class Variant(_Keys):
    """A variant in full: the job with its settings."""

    name: str
    job: JobConfig


def load_evaluation(path: Path) -> tuple[EvaluationConfig, list[Variant]]:
    """The checked file, and each variant as a job of its own.

    Raises:
        ConfigError: a file cannot be read or a key is wrong; all faults of the variants at once.
    """
    raw = read_yaml(path)
    try:
        config = EvaluationConfig.model_validate(raw)
    except ValidationError as error:
        if "sources" in raw:
            raise ConfigError(
                f"{path} is a job. To evaluate takes a file that names it: `job`, `questions` and `variants`."
            ) from error
        faults = [
            f"  {line_of(fault, EvaluationConfig.model_fields)}"
            for fault in error.errors(include_url=False)
        ]
        raise ConfigError("\n".join([f"{path} cannot be used:", *faults])) from error
    names = [variant.name for variant in config.variants]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ConfigError(f"{path} cannot be used:\n  variants: more than one is called {', '.join(twice)}")
    job = load_config(config.job)
    found: list[str] = []
    variants = [_variant(keys, n, job, found) for n, keys in enumerate(config.variants)]
    if found:
        raise ConfigError("\n".join([f"{path} cannot be used:", *found]))
    return config, [variant for variant in variants if variant is not None]


def _variant(keys: VariantKeys, n: int, job: JobConfig, faults: list[str]) -> Variant | None:
    over = dict(keys.model_extra or {})
    try:
        sources = tuple(_source(source, over) for source in job.sources)
    except ValidationError as error:
        faults += [f"  variants[{n}].{fault}" for fault in faults_of(error, over).values()]
        return None
    changes: dict[str, Any] = {"sources": sources}
    for name, kinds, given in (
        ("embedder", _EMBEDDER, keys.embedder),
        ("sparse", _SPARSE, keys.sparse),
        ("search", _SEARCH, keys.search),
    ):
        if given is None:
            continue
        try:
            changes[name] = kinds.validate_python(given)
        except ValidationError as error:
            faults += [f"  variants[{n}].{name}.{fault}" for fault in faults_of(error, given).values()]
            return None
    return Variant(name=keys.name, job=job.model_copy(update=changes))


def _source(source: SourceConfig, over: dict[str, Any]) -> SourceConfig:
    return SourceConfig.model_validate(merged(source.model_dump(), over))
