"""Where the inventory of a source is, and what its columns are called."""

from __future__ import annotations

import datetime
import re
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

_UNITS = {"m": "minutes", "h": "hours", "d": "days"}
_SPAN = re.compile(r"(\d{1,6})([mhd])")
_SCHEMES = ("gs://", "s3://", "az://", "abfss://")


def _of_a_bucket(uri: str) -> str:
    if not uri.startswith(_SCHEMES) or not uri.partition("://")[2].strip("/"):
        raise ValueError(
            "must be a URI in a bucket, of a manifest, a CSV or Parquet file, or a folder of them"
        )
    return uri


def _span(text: str) -> str:
    if _SPAN.fullmatch(text) is None:
        raise ValueError("must be a number and m, h or d, as in 36h")
    return text


class _Keys(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class InventoryColumns(_Keys):
    """Names of columns where they are not those of S3 Inventory or of Storage Insights."""

    name: str | None = Field(default=None, description="The object's whole name; else `Key` or `name`.")
    size: str | None = Field(default=None, description="Its bytes; else `Size`.")
    token: str | None = Field(
        default=None,
        description="Its version: the ETag on S3 and Azure, the generation on Google Cloud Storage.",
    )
    checksum: str | None = Field(
        default=None, description="MD5 in base64, on Google Cloud Storage and Azure; else `md5Hash`."
    )
    modified: str | None = Field(
        default=None, description="When it was written last; else `LastModifiedDate` or `updated`."
    )


class InventorySettings(_Keys):
    """An inventory of the source's bucket, read in place of a listing."""

    uri: Annotated[str, AfterValidator(_of_a_bucket)] = Field(
        description="A manifest, a CSV (`.csv`, `.csv.gz`) or Parquet file, or a folder: its newest manifest."
    )
    max_age: Annotated[str, AfterValidator(_span)] = Field(
        default="3d",
        description="An older inventory is not used, and the source keeps its rows. A number and m, h or d.",
    )
    url_encoded: bool | None = Field(
        default=None,
        description="Whether names are URL-encoded; else they are, in CSV of a manifest of S3 Inventory alone.",
    )
    columns: InventoryColumns = Field(default_factory=InventoryColumns)

    @property
    def oldest(self) -> datetime.timedelta:
        """``max_age`` as a span of time."""
        number, unit = self.max_age[:-1], self.max_age[-1]
        return datetime.timedelta(**{_UNITS[unit]: int(number)})
