"""The command line: names, options and exit codes. The commands themselves are imported when they run.

Exit codes: 0 done (for ``run``: published, or nothing new), 1 anything unforeseen, 2 configuration or
usage, 3 too many documents rejected (nothing published), or too many rows that an export cannot hold, 4 refused by
a guard, or a source could not be listed (the other sources are published), 130 and 143 ended by Ctrl-C and by SIGTERM.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from pipeline.output import prepare_output, printed
from pipeline.signals import ended_by_signals
from transforms.model.errors import ParquetryError
from transforms.model.fusion import DEFAULT
from transforms.model.version import VERSION

app = typer.Typer(
    name="parquetry",
    help="Index a corpus in folders or object storage (gs://, s3://, az://) into Parquet chunk tables for retrieval.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
config_app = typer.Typer(help="Check a configuration, or export its JSON Schema.", no_args_is_help=True)
app.add_typer(config_app, name="config")

_UsageError: Any = typer.BadParameter.__base__
"""Of whichever click stands behind typer."""

_ConfigFile = Annotated[Path, typer.Argument(metavar="CONFIG", help="The job's YAML file.")]
_Table = Annotated[
    str, typer.Argument(metavar="TABLE", help="A table: its folder, or its gs://, s3:// or az:// prefix.")
]
_Sources = Annotated[list[str] | None, typer.Option("--source", "-s", help="Only this source; repeatable.")]
_Prefix = Annotated[str, typer.Option("--prefix", help="Only objects whose names begin so.")]
_Since = Annotated[
    str | None, typer.Option("--since", metavar="DATE", help="Only objects written then or later.")
]
_Recipe = Annotated[
    str,
    typer.Option("--recipe", help="Only objects with rows of this recipe, by the beginning of its name."),
]
_JobOfSettings = Annotated[
    Path | None, typer.Option("--config", help="Take the settings of a job's source.")
]
_SourceOfSettings = Annotated[
    str | None, typer.Option("--source", help="Which source of --config; default: the first.")
]
_Full = Annotated[bool, typer.Option("--full", help="Read, cut and embed everything again.")]
_Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress, only the result.")]
_Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text for people.")]


@app.command()
def run(
    config: _ConfigFile,
    beam_args: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- BEAM_OPTIONS", help="Options for Beam, after `--`."),
    ] = None,
    *,
    allow_deletes: Annotated[
        bool, typer.Option("--allow-deletes", help="Delete however many documents are gone.")
    ] = False,
    take_over: Annotated[
        bool,
        typer.Option(
            "--take-over", help="Take the place of a dead run of another machine before its claim runs out."
        ),
    ] = False,
    source: _Sources = None,
    prefix: _Prefix = "",
    since: _Since = None,
    recipe: _Recipe = "",
    full: _Full = False,
    max_tokens: Annotated[
        int | None,
        typer.Option(
            "--max-tokens",
            min=1,
            help="Stop, to be resumed, before a server is sent more; over limits.max_tokens.",
        ),
    ] = None,
    max_cost: Annotated[
        float | None,
        typer.Option("--max-cost", min=0, help="The same in US dollars; over limits.max_cost."),
    ] = None,
    quiet: _Quiet = False,
    json_logs: Annotated[
        bool, typer.Option("--json-logs", help="Show progress as JSON, a line every half minute.")
    ] = False,
    as_json: _Json = False,
) -> None:
    """Bring the table up to date with its sources and publish a snapshot."""
    from pipeline.commands import run as command
    from pipeline.scope import Words

    words = Words(source or (), prefix, since, recipe, full, max_tokens, max_cost)
    raise typer.Exit(
        command.run(
            config,
            beam_args or [],
            words,
            allow_deletes=allow_deletes,
            take_over=take_over,
            as_json=as_json,
            quiet=quiet,
            json_logs=json_logs,
        )
    )


@app.command()
def status(
    table: _Table,
    *,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Stay until the run at work is gone.")
    ] = False,
    as_json: _Json = False,
) -> None:
    """Say how far the run at work on a table is, wherever it was started, or how the last one ended."""
    from pipeline.commands import status as command

    raise typer.Exit(command.run(table, follow=follow, as_json=as_json))


@app.command()
def plan(
    config: _ConfigFile,
    *,
    source: _Sources = None,
    prefix: _Prefix = "",
    since: _Since = None,
    recipe: _Recipe = "",
    full: _Full = False,
    as_json: _Json = False,
) -> None:
    """Say what a run would do and cost, without writing anything."""
    from pipeline.commands import plan as command
    from pipeline.scope import Words

    words = Words(source or (), prefix, since, recipe, full)
    raise typer.Exit(command.run(config, words, as_json=as_json))


@app.command()
def search(
    table: _Table,
    question: Annotated[
        list[str], typer.Argument(metavar="QUESTION", help="What to look for; quotes are not needed.")
    ],
    *,
    top: Annotated[int, typer.Option("--top", "-k", min=1, max=1000, help="Chunks to show.")] = 5,
    source: Annotated[
        list[str] | None, typer.Option("--source", "-s", help="Only this source; repeatable.")
    ] = None,
    filters: Annotated[
        list[str] | None,
        typer.Option(
            "--filter",
            metavar="CONDITION",
            help="Only chunks that meet it: `doc_type=manual|guide`, `effective_date>=2026-01-01`, "
            "`metadata.author=Ada`; repeatable.",
        ),
    ] = None,
    dense: Annotated[bool, typer.Option("--dense", help="By vectors alone.")] = False,
    sparse: Annotated[bool, typer.Option("--sparse", help="By words alone; needs no model.")] = False,
    fusion: Annotated[
        Literal["sum", "rrf"] | None,
        typer.Option(
            help="How one score is made of both: a sum of scores, or of reciprocal ranks. Default: as the table's job "
            f"says, else {DEFAULT.method}."
        ),
    ] = None,
    weight: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help=f"How much words count beside vectors in it. Default: likewise, else {DEFAULT.weight}.",
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show both scores and places of each chunk, and its terms.")
    ] = False,
    as_json: _Json = False,
) -> None:
    """Show the chunks of the newest snapshot that answer a question best, by vectors and words together.

    Where the table has no sparse vectors, by vectors alone.
    """
    from pipeline.commands import search as command

    if dense and sparse:
        raise typer.BadParameter("give one of --dense and --sparse; without them, a search goes by both.")
    raise typer.Exit(
        command.run(
            table,
            " ".join(question),
            top=top,
            sources=source or None,
            by="dense" if dense else "sparse" if sparse else None,
            filters=filters or (),
            fusion=fusion,
            weight=weight,
            explain=explain,
            as_json=as_json,
        )
    )


@app.command()
def show(
    table: _Table,
    *,
    rejected: Annotated[
        bool, typer.Option("--rejected", help="List the documents that could not be indexed, and why.")
    ] = False,
    as_json: _Json = False,
) -> None:
    """Summarise the newest snapshot of a table."""
    if rejected:
        from pipeline.commands import rejected as listing

        raise typer.Exit(listing.run(table, as_json=as_json))
    from pipeline.commands import show as command

    raise typer.Exit(command.run(table, as_json=as_json))


@app.command()
def snapshots(table: _Table, *, as_json: _Json = False) -> None:
    """List the snapshots that a table holds, and runs that did not finish."""
    from pipeline.commands import snapshots as command

    raise typer.Exit(command.run(table, as_json=as_json))


@app.command()
def load(
    table: _Table,
    *,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="ADDRESS|FILE",
            help="Store, as in `duckdb:chunks.duckdb#pages`, or a YAML file that says it.",
        ),
    ],
    since: Annotated[
        int | None,
        typer.Option("--since", metavar="N", min=1, help="Take the store for one that holds snapshot N."),
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="Load all rows, whatever the store holds.")] = False,
    source: _Sources = None,
    condition: Annotated[
        list[str] | None,
        typer.Option(
            "--filter",
            metavar="CONDITION",
            help="Only rows like `doc_type=manual|guide`, `chunk_index<10`; repeatable.",
        ),
    ] = None,
    into: Annotated[
        str | None, typer.Option("--into", metavar="NAME", help="Load into this collection instead.")
    ] = None,
    switch: Annotated[
        bool, typer.Option("--switch", help="Send readers of the address to it, once it is checked.")
    ] = False,
    adopt: Annotated[
        bool, typer.Option("--adopt", help="Take over a collection with rows that no load has written.")
    ] = False,
    quiet: _Quiet = False,
    as_json: _Json = False,
) -> None:
    """Bring a vector store to the newest snapshot: by the changes since it was loaded last, or in full."""
    from pipeline.commands import load as command
    from transforms.loaders.plan import Wishes

    options = {"sources": source, "filter": condition, "into": into, "switch": switch}
    said = {key: value for key, value in options.items() if value}
    raise typer.Exit(command.run(table, to, said, Wishes(since, full, adopt), quiet=quiet, as_json=as_json))


@app.command()
def rollback(
    table: _Table,
    *,
    to: Annotated[
        int | None,
        typer.Option(
            "--to", metavar="N", help="This snapshot; default: the one that the present was made from."
        ),
    ] = None,
    as_json: _Json = False,
) -> None:
    """Send readers back to an older snapshot, or forward again."""
    from pipeline.commands import rollback as command

    raise typer.Exit(command.run(table, to=to, as_json=as_json))


@app.command()
def diff(
    table: _Table,
    before: Annotated[int, typer.Argument(metavar="A", help="Number of a snapshot.")],
    after: Annotated[int, typer.Argument(metavar="B", help="Number of another.")],
    *,
    as_json: _Json = False,
) -> None:
    """Show which documents and chunks lie between snapshots A and B: added, changed, gone."""
    from pipeline.commands import diff as command

    raise typer.Exit(command.run(table, before, after, as_json=as_json))


@app.command()
def explain(
    table: _Table,
    document: Annotated[str, typer.Argument(metavar="DOCUMENT", help="Its URI, its id, or SOURCE/ID.")],
    *,
    as_json: _Json = False,
) -> None:
    """Say everything that a table knows of one document: what it is, why, and since when."""
    from pipeline.commands import explain as command

    raise typer.Exit(command.run(table, document, as_json=as_json))


@app.command()
def export(
    table: _Table,
    *,
    profile: Annotated[
        str,
        typer.Option(
            "--profile",
            help="The store: azure-search, bigquery, delta, milvus, opensearch, pgcopy, pinecone, s3-vectors, "
            "snowflake, turbopuffer, vdf, vertex or vespa.",
        ),
    ],
    to: Annotated[
        str, typer.Option("--to", metavar="URI", help="Where the files go: a folder or gs://, s3://.")
    ] = "",
    name: Annotated[
        str, typer.Option("--name", help="The collection's name there: namespace, index or table.")
    ] = "chunks",
    since: Annotated[
        int | None,
        typer.Option(
            "--since",
            metavar="N",
            help="Only what leads from snapshot N, which the store holds, to the newest.",
        ),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="The whole snapshot: what is done without --since.")
    ] = False,
    source: _Sources = None,
    columns: Annotated[
        str, typer.Option("--columns", help="Columns besides id and vector, with commas; `*`: all.")
    ] = "",
    model: Annotated[
        str | None, typer.Option("--model", help="Vectors of this model, where the table has several.")
    ] = None,
    max_refused_share: Annotated[
        float,
        typer.Option(
            "--max-refused-share",
            min=0,
            max=1,
            help="Rows that the store cannot take, at most; more: exit code 3.",
        ),
    ] = 0.01,
    sparse: Annotated[
        bool,
        typer.Option(
            "--sparse/--no-sparse",
            help="Whether sparse vectors go along, where the table has them and the store takes them.",
        ),
    ] = True,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Check the folder TABLE by the store's published rules; write nothing."
        ),
    ] = False,
    quiet: _Quiet = False,
    as_json: _Json = False,
) -> None:
    """Write files that a store's bulk import takes, of the newest snapshot or of what changed since another."""
    from pipeline.commands import export as command
    from transforms.exports.export import Wishes
    from transforms.model.errors import ConfigError

    if full and since is not None:
        raise ConfigError("--full and --since exclude each other.")
    if check:
        raise typer.Exit(command.run_check(table, profile, to=to, as_json=as_json))
    chosen = tuple(column.strip() for column in columns.split(",") if column.strip())
    wishes = Wishes(to, name, since, tuple(source or ()), chosen, model, max_refused_share, sparse)
    raise typer.Exit(command.run(table, profile, wishes, as_json=as_json, quiet=quiet))


@app.command()
def vacuum(
    table: _Table,
    *,
    keep: Annotated[int, typer.Option("--keep", min=1, metavar="N", help="Keep the newest N snapshots.")],
    grace: Annotated[
        str, typer.Option("--grace", help="Remove nothing younger than this: 90m, 12h, 7d.")
    ] = "1d",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would go; remove nothing.")] = False,
    as_json: _Json = False,
) -> None:
    """Remove old snapshots, and what runs that died have left; never what readers or runs use."""
    from pipeline.commands import vacuum as command

    raise typer.Exit(command.run(table, keep=keep, grace=grace, dry_run=dry_run, as_json=as_json))


@app.command()
def extract(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="Local files.")],
) -> None:
    """Print what extraction makes of files: one JSON object a line."""
    from pipeline.commands import extract as command

    raise typer.Exit(command.run(files, sys.stdout))


@app.command()
def chunk(
    file: Annotated[str, typer.Argument(metavar="FILE|URI", help="A local file, or an object.")],
    *,
    strategy: Annotated[
        str | None, typer.Option("--strategy", help="Chunking strategy; default: verbatim.")
    ] = None,
    config: _JobOfSettings = None,
    source: _SourceOfSettings = None,
    as_json: _Json = False,
) -> None:
    """Show how one file is cut into chunks."""
    from pipeline.commands import chunk as command

    raise typer.Exit(command.run(file, strategy=strategy, config=config, source=source, as_json=as_json))


@app.command()
def preview(
    file: Annotated[str, typer.Argument(metavar="FILE|URI", help="A local file, or an object.")],
    *,
    strategy: Annotated[
        list[str] | None,
        typer.Option("--strategy", "-S", help="Chunking strategy; repeat it to see them side by side."),
    ] = None,
    config: _JobOfSettings = None,
    source: _SourceOfSettings = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write an HTML file instead.")
    ] = None,
    open_page: Annotated[
        bool, typer.Option("--open", help="Write an HTML file and open it in the browser.")
    ] = False,
) -> None:
    """Show how one file is read and cut, chunk by chunk, to choose settings by looking."""
    from pipeline.commands import preview as command

    raise typer.Exit(
        command.run(file, strategy or (), config=config, source=source, html=html, open_page=open_page)
    )


@app.command()
def evaluate(
    config: Annotated[
        Path, typer.Option("--config", metavar="FILE", help="A job, questions and variants, as YAML.")
    ],
    *,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a page with plots, too.")
    ] = None,
    as_json: _Json = False,
) -> None:
    """Ask questions with known answers, and compare strategies, sizes, embedders, and vectors with words."""
    from pipeline.commands import evaluate as command

    raise typer.Exit(command.run(config, html=html, as_json=as_json))


@config_app.command("check")
def config_check(config: _ConfigFile) -> None:
    """Say everything that is wrong with a configuration, or what it will do."""
    from pipeline.commands import config as command

    raise typer.Exit(command.check(config))


@config_app.command("schema")
def config_schema() -> None:
    """Print the JSON Schema of the configuration, for editors."""
    from pipeline.commands import config as command

    raise typer.Exit(command.schema())


def _version(*, wanted: bool) -> None:
    if wanted:
        typer.echo(f"parquetry {VERSION}")
        raise typer.Exit


@app.callback()
def _options(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=lambda wanted: _version(wanted=wanted), is_eager=True)
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; a fault that a person can act on is one message and an exit code."""
    prepare_output()
    with ended_by_signals(), printed():
        try:
            code = app(standalone_mode=False)
        except ParquetryError as error:
            typer.echo(f"parquetry: {error}", err=True)
            raise SystemExit(error.exit_code) from None
        except _UsageError as error:
            # In the box that it would get otherwise, names of files are broken in the middle.
            error.show()
            if error.ctx is not None and error.ctx.info_name == "run" and hasattr(error, "option_name"):
                typer.echo("Options for Beam stand after `--`.", err=True)
            raise SystemExit(error.exit_code) from None
        raise SystemExit(code)


if __name__ == "__main__":
    main()
