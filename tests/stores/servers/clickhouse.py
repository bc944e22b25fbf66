"""A ClickHouse server's HTTP interface over the real engine: what a load says of it, and nothing more.

``python -m tests.stores.servers.clickhouse FOLDER`` prints its port. Statements come as the body of a POST; with the
parameter ``query`` the body is data in the format that the query ends with. The engine is chDB, in this process.
"""

import http.server
import re
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from chdb import ChdbError, session

REPO = Path(__file__).parents[3]
USER, PASSWORD = "me", "p@ss/word"
_INSERT = re.compile(r"(.*) FORMAT (\w+)", re.DOTALL)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    engine = None

    def do_POST(self):
        try:
            self._answer(200, self._result())
        except (ChdbError, RuntimeError, PermissionError) as error:
            self._answer(500, str(error).encode())

    def _result(self):
        body = self._body()
        given = (self.headers["X-ClickHouse-User"], self.headers["X-ClickHouse-Key"])
        if given != (USER, PASSWORD):
            raise PermissionError(f"Code: 516. {given[0]}: Authentication failed")
        (statement,) = parse_qs(urlsplit(self.path).query).get("query", [""])
        if not statement:
            return self.engine.query(body.decode()).bytes()
        insert, form = _INSERT.fullmatch(statement).groups()
        with tempfile.NamedTemporaryFile() as file:
            file.write(body)
            file.flush()
            return self.engine.query(f"{insert} SELECT * FROM file('{file.name}', {form})").bytes()

    def _body(self):
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers["Content-Length"]))
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _answer(self, status, data):
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@contextmanager
def running(folder):
    """The port of a server in a process of its own."""
    command = [sys.executable, "-m", "tests.stores.servers.clickhouse", str(folder)]
    with subprocess.Popen(command, cwd=REPO, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield int(process.stdout.readline())
        finally:
            process.terminate()


def main(folder):
    Handler.engine = session.Session(folder)
    # One request after another, as the engine has one session.
    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1])
