"""The settings of a load: which store, which rows, and what goes where."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from transforms.loaders.address import Address, parse_address
from transforms.loaders.mapping import DEFAULT, SPARSE, check_columns
from transforms.loaders.protocol import Index, IndexKind, Metric
from transforms.model.errors import ConfigError
from transforms.table.conditions import parse_conditions


def _address(written: str) -> str:
    try:
        parse_address(written)
    except ConfigError as error:
        raise ValueError(str(error)) from None
    return written


class IndexSettings(BaseModel):
    """The index of vectors that the store builds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: IndexKind = Field("default", description="What the store does by itself, none, or hnsw.")
    m: int = Field(16, ge=2, le=512, description="Neighbours a node of HNSW.")
    ef_construction: int = Field(64, ge=4, le=4096, description="Candidates while HNSW is built.")

    def index(self) -> Index:
        """As loaders take it."""
        return Index(self.kind, self.m, self.ef_construction)


class LoadSettings(BaseModel):
    """One load: a table's chunks into one collection of one store."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    to: Annotated[str, AfterValidator(_address)] = Field(
        description="Address of the store: SCHEME:PLACE#COLLECTION, as in duckdb:build/chunks.duckdb#chunks."
    )
    columns: dict[str, str] = Field(
        default_factory=lambda: {name: name for name in DEFAULT},
        description="Columns of the chunk table, each with its name in the store, or a list of those that keep "
        "their names; `*` alone: all. `chunk_id` and `embedding` always go along.",
    )
    sparse: str | None = Field(
        SPARSE,
        min_length=1,
        description="Name of the sparse vector in the store; null: it is left out, as it is where the table has "
        "none or the store takes none.",
    )
    full_text: bool | None = Field(
        None,
        description="Whether the store indexes `text` by words; by default where the table has sparse vectors and "
        "the store takes none.",
    )
    filter: tuple[str, ...] = Field(
        (),
        description="Conditions that rows must meet, such as `doc_type=manual|guide` or `chunk_index<10`.",
    )
    sources: tuple[str, ...] = Field((), description="Names of sources; none: all.")
    metric: Metric = Field("cosine", description="How vectors are compared: cosine, dot or l2.")
    model: str | None = Field(
        None, description="Model of the vectors, as in `embed_model`; needed where the table holds several."
    )
    index: IndexSettings = Field(IndexSettings(), description="The index of vectors.")
    batch: int | None = Field(
        None, ge=1, le=65536, description="Rows at once; by default what suits the store."
    )
    into: str | None = Field(
        None, min_length=1, description="Load into this collection; readers of `to` see it after a switch."
    )
    switch: bool = Field(
        default=False,
        description="Make the collection of `to` an alias or view of `into` after the checks.",
    )

    @model_validator(mode="before")
    @classmethod
    def _columns_as_list(cls, raw: object) -> object:
        if isinstance(raw, dict) and isinstance(raw.get("columns"), list | tuple):
            return raw | {"columns": {name: name for name in raw["columns"]}}
        return raw

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        try:
            parse_conditions(self.filter)
            check_columns(self.columns, self.sparse)
        except ConfigError as error:
            raise ValueError(str(error)) from None
        if self.switch and (self.into is None or self.into == self.address.collection):
            raise ValueError("`switch` needs `into`, another name than the collection of `to`")
        return self

    @property
    def address(self) -> Address:
        """The parsed address."""
        return parse_address(self.to)
