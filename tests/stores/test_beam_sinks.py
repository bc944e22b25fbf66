"""A table loaded by a Beam job, with the sinks that Beam itself has for Milvus and Qdrant."""

import json

import apache_beam as beam
import numpy as np
import pytest
from apache_beam.ml.rag.ingestion.base import VectorDatabaseWriteTransform
from apache_beam.testing.util import assert_that

from tests.stores.history import DIMENSION, rows, scores, weights
from tests.stores.test_contract import target_of
from transforms.model.errors import ConfigError
from transforms.rag import METADATA, ReadEmbeddableItems


def test_rows_become_items_with_their_id_text_place_vector_and_metadata(table):
    expected = rows(table, 1)

    def are_those_of_the_table(items):
        assert len(items) == len(expected)
        for item in items:
            row = expected[item.id]
            assert (item.content.text, item.index) == (row["text"], row["chunk_index"])
            assert item.dense_embedding == row["embedding"]
            assert item.sparse_embedding == (row["sparse_indices"], row["sparse_values"])
            assert item.metadata == {name: row[name] for name in METADATA if row[name] is not None}
            json.dumps(item.metadata)

    with beam.Pipeline() as pipeline:
        assert_that(pipeline | ReadEmbeddableItems(str(table), snapshot=1), are_those_of_the_table)


def test_rows_are_chosen_by_sources_and_conditions_and_columns_by_name(table):
    def are_first_chunks_of_notes(items):
        assert items
        assert {(item.index, item.metadata["source_name"]) for item in items} == {(0, "Notes & more")}
        assert {tuple(item.metadata) for item in items} == {("source_name", "text")}

    chosen = ReadEmbeddableItems(
        str(table), sources=["Notes & more"], filters=["chunk_index=0"], metadata=["source_name", "text"]
    )
    with beam.Pipeline() as pipeline:
        assert_that(pipeline | chosen, are_first_chunks_of_notes)


def test_items_have_no_sparse_vectors_if_none_are_wanted(table):
    def have_none(items):
        assert items
        assert all(item.sparse_embedding is None for item in items)

    with beam.Pipeline() as pipeline:
        assert_that(pipeline | ReadEmbeddableItems(str(table), snapshot=1, sparse=False), have_none)


def test_a_column_that_the_table_has_not_is_refused_when_the_pipeline_is_built():
    with pytest.raises(ConfigError, match="has no column titel"):
        ReadEmbeddableItems("anywhere", metadata=["titel"])


def test_beams_sink_for_qdrant_writes_the_table(table):
    pytest.importorskip("qdrant_edge")
    from apache_beam.ml.rag.ingestion.qdrant import QdrantConnectionParameters, QdrantWriteConfig

    from tests.stores.adapters import qdrant as adapter
    from tests.stores.servers.qdrant import qdrant_server
    from transforms.loaders.address import parse_address
    from transforms.loaders.qdrant import connect

    with qdrant_server() as server:
        to = server.url.replace("http:", "qdrant:")
        loader = connect(parse_address(to))
        loader.create(target_of(DIMENSION, "sparse"))
        connection = QdrantConnectionParameters.for_url(server.url)
        config = QdrantWriteConfig(connection, "chunks", batch_size=20, dense_embedding_key="")
        for _ in range(2):
            items = ReadEmbeddableItems(str(table), snapshot=1, metadata=[*METADATA, "text", "chunk_index"])
            with beam.Pipeline() as pipeline:
                pipeline | items | VectorDatabaseWriteTransform(config)
        expected = rows(table, 1)
        loader.close()
        found = adapter.rows(to, "chunks")
        assert {key: one.text for key, one in found.items()} == {
            key: row["text"] for key, row in expected.items()
        }
        first, row = next(iter(expected.items()))
        assert adapter.nearest(to, "chunks", np.float32(row["embedding"]), 1) == [first]
        terms = weights(table, 1, row["sparse_indices"])
        true = scores(expected, terms)
        ids = adapter.by_terms(to, "chunks", terms, 5)
        assert [true[key] for key in ids] == pytest.approx(sorted(true.values(), reverse=True)[:5])


def test_beams_sink_for_milvus_writes_the_table(table, tmp_path):
    pytest.importorskip("milvus_lite")
    from apache_beam.ml.rag.ingestion.jdbc_common import WriteConfig
    from apache_beam.ml.rag.ingestion.milvus_search import MilvusVectorWriterConfig, MilvusWriteConfig
    from apache_beam.ml.rag.ingestion.postgres_common import ColumnSpecsBuilder
    from apache_beam.ml.rag.utils import MilvusConnectionParameters, MilvusHelpers
    from milvus_lite.server_manager import server_manager_instance
    from pymilvus import DataType, MilvusClient

    path = str(tmp_path / "store.db")
    client = MilvusClient(path)
    schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field("id", DataType.VARCHAR, is_primary=True, max_length=64)
    schema.add_field("embedding", DataType.FLOAT_VECTOR, dim=DIMENSION)
    schema.add_field("sparse_embedding", DataType.SPARSE_FLOAT_VECTOR)
    schema.add_field("content", DataType.VARCHAR, max_length=65_535)
    schema.add_field("metadata", DataType.JSON)
    index = MilvusClient.prepare_index_params()
    index.add_index("embedding", index_type="FLAT", metric_type="COSINE")
    index.add_index("sparse_embedding", index_type="SPARSE_INVERTED_INDEX", metric_type="IP")
    client.create_collection("chunks", schema=schema, index_params=index)
    specs = ColumnSpecsBuilder().with_id_spec().with_embedding_spec(convert_fn=list).with_content_spec()
    specs = specs.with_sparse_embedding_spec(conv_fn=MilvusHelpers.sparse_embedding)
    config = MilvusVectorWriterConfig(
        MilvusConnectionParameters(uri=path),
        MilvusWriteConfig("chunks", write_config=WriteConfig(write_batch_size=50)),
        specs.with_metadata_spec(convert_fn=dict).build(),
    )
    with beam.Pipeline() as pipeline:
        pipeline | ReadEmbeddableItems(str(table), snapshot=1) | VectorDatabaseWriteTransform(config)
    found = client.query("chunks", filter="", limit=10_000, output_fields=["id", "content", "metadata"])
    expected = rows(table, 1)
    assert {row["id"]: (row["content"], row["metadata"]["doc_id"]) for row in found} == {
        key: (row["text"], row["doc_id"]) for key, row in expected.items()
    }
    terms = weights(table, 1, next(iter(expected.values()))["sparse_indices"])
    true = scores(expected, terms)
    near = client.search("chunks", [terms], anns_field="sparse_embedding", limit=1)[0][0]
    assert true[near["id"]] == pytest.approx(max(true.values()))
    client.close()
    server_manager_instance.release_server(path)
