"""A Celery worker for some queues, started without the modules that Celery's command line loads.

usage: python -m workers.pool --queues NAMES --hostname NODE [--concurrency N]
"""

import sys
from argparse import ArgumentParser

from celery.utils.nodenames import default_nodename, host_format

from app import logs
from workers.main import celery


def main() -> None:
    parser = ArgumentParser(prog="python -m workers.pool")
    parser.add_argument("--queues", required=True)
    parser.add_argument("--hostname", required=True, help="%%h stands for the name of this machine")
    parser.add_argument("--concurrency", type=int, default=1)
    arguments = parser.parse_args()
    logs.configure()
    worker = celery.Worker(
        hostname=host_format(default_nodename(arguments.hostname)),
        queues=arguments.queues,
        concurrency=arguments.concurrency,
        loglevel="INFO",
        quiet=True,  # no banner: every line of the log is JSON
        # Workers need not talk to each other: the database knows which job is next.
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    worker.start()
    sys.exit(worker.exitcode)


if __name__ == "__main__":
    main()
