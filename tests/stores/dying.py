"""A load that is killed half-way: ``python -m tests.stores.dying TO TABLE SHARE``; it never comes to its end."""

import os
import signal
import sys

from transforms.loaders.load import load
from transforms.loaders.settings import LoadSettings
from transforms.storage.local import LocalStore


def main(to: str, table: str, share: str) -> None:
    def watch(done: int, total: int) -> None:
        if done >= float(share) * total:
            os.kill(os.getpid(), signal.SIGKILL)

    load(LocalStore(table), LoadSettings(to=to, batch=16), watch=watch)


if __name__ == "__main__":
    main(*sys.argv[1:])
