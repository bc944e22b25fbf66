"""Engines that live as long as the session."""

from __future__ import annotations

import contextlib

import pytest

from tests.support import engines
from tests.support.engine_jobs import Engine, external, portable
from tests.support.get_engines import MissingEngineError, pass_over, require


@pytest.fixture(scope="session")
def pool():
    """A pool of worker processes."""
    with engines.worker_pool() as address:
        yield address


@contextlib.contextmanager
def needed(engine):
    """What an engine's block gives; without the engine there is no test."""
    with contextlib.ExitStack() as stack:
        try:
            found = stack.enter_context(engine)
        except MissingEngineError as error:
            pass_over(error)
        yield found


@pytest.fixture(scope="session")
def got():
    """Pass what was got for the tests, by its name."""

    def look(name):
        try:
            require(name)
        except MissingEngineError as error:
            pass_over(error)

    return look


@pytest.fixture(scope="session")
def loopback():
    """Beam's job service in Python; the process that submits the job works on it."""
    with engines.job_service("loopback") as address:
        yield Engine(portable(address, "--environment_type=LOOPBACK"))


@pytest.fixture(scope="session")
def processes(pool):
    """Beam's job service in Python; a pool's process works on the job."""
    with engines.job_service("processes") as address:
        yield Engine(portable(address, *external(pool)))


@pytest.fixture(scope="session")
def prism(pool):
    """Prism, with a pool's process."""
    with needed(engines.prism()) as address:
        yield Engine(portable(address, *external(pool)))


@pytest.fixture(scope="session")
def spark(pool):
    """Spark in the process of its job server, with two cores and a pool's processes."""
    with needed(engines.job_server("spark", "local[2]")) as address:
        yield Engine(portable(address, *external(pool, slots=2)), workers=2)


@pytest.fixture(scope="session")
def cluster():
    """A Flink of a job manager and two task managers with two slots each: its address, and the task managers."""
    with needed(engines.flink_cluster(task_managers=2, slots=2)) as found:
        yield found


@pytest.fixture(scope="session")
def flink(cluster, pool):
    """Flink, two slots of it for a job, with a pool's processes."""
    with needed(engines.job_server("flink", cluster[0])) as address:
        yield Engine(portable(address, *external(pool, slots=2)), workers=2)
