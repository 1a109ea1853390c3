"""The same rewards as tasks of a durable queue: Celery on Redis with its append-only file.

A task is acknowledged after it ran, so that a worker that dies loses none, and its result is kept for the caller.

    celery --app queue_tasks worker --concurrency 2
"""

import os

import server
from celery import Celery

REDIS = os.environ["BENCH_REDIS"]
app = Celery("rewards", broker=REDIS, backend=REDIS)
app.conf.update(
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    # Many small tasks: a worker that had to ask for each would be slower.
    worker_prefetch_multiplier=128,
    worker_send_task_events=False,
    broker_connection_retry_on_startup=True,
)


@app.task
def trivial(item: dict) -> float:
    return server.trivial(server.Item(**item))
