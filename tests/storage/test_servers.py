"""Servers of tests end with the process that started them, be it killed."""

import os
import signal
import socket
import subprocess
import sys
import threading

import pytest

from tests.servers.buckets import SERVERS, MissingServerError

PROGRAM = """
import sys, time
from tests.servers.buckets import SERVERS
with SERVERS[sys.argv[1]]() as url:
    print(url.rpartition(":")[2], flush=True)
    time.sleep(600)
"""


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize("kind", ["azure", "gcs"])
def test_a_server_is_gone_soon_after_a_run_that_was_killed(kind):
    try:
        with SERVERS[kind]():
            pass
    except MissingServerError as error:
        pytest.skip(str(error))
    command = [sys.executable, "-c", PROGRAM, kind]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
        port = int(run.stdout.readline())
        assert listens(port)
        os.kill(run.pid, signal.SIGKILL)
    # Twice a second its guard looks; a machine under load takes longer.
    pause = threading.Event()
    assert any(not listens(port) or pause.wait(0.1) for _ in range(600))


@pytest.mark.parametrize("kind", ["azure", "gcs", "s3"])
def test_a_server_is_gone_after_its_block(kind):
    try:
        with SERVERS[kind]() as url:
            port = int(url.rpartition(":")[2])
    except MissingServerError as error:
        pytest.skip(str(error))
    assert not listens(port)
