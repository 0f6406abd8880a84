"""An HTTP route of a Dask scheduler by which ElasticWorkers drain a worker: POST /drain/NAME.

The worker gets no more tasks, finishes those that it runs, passes its results on to other workers, and ends. Tasks that wait on it are run
by others. Dask's own route, /api/v1/retire_workers, does not wait for tasks that run: they are started anew on other workers.

Enable it with DASK_DISTRIBUTED__SCHEDULER__HTTP__ROUTES='["koord_drain", "distributed.http.health"]', and this file in PYTHONPATH.
"""

import asyncio
from time import time

from distributed.http.utils import RequestHandler

draining = {}  # tasks of the event loop by the name of the worker


def runs(ws):
    """Whether a worker runs tasks, as its last heartbeat says."""
    counts = ws.metrics.get("task_counts", {})
    return counts.get("executing", 0) + counts.get("long-running", 0) > 0


async def drain(scheduler, name):
    while name in scheduler.aliases:
        ws = scheduler.workers[scheduler.aliases[name]]
        # Nobody takes its results where all others are paused or leave, too; it is then in use again.
        if not await scheduler.retire_workers(names=[name], remove=False):
            await asyncio.sleep(1)
            continue
        asked = time()
        # A second later, it has heard that it gets no more tasks.
        while name in scheduler.aliases and (ws.last_seen < asked + 1 or runs(ws)):
            await asyncio.sleep(0.2)
        # It has results of those tasks now.
        await scheduler.retire_workers(names=[name], close_workers=True)


class DrainHandler(RequestHandler):
    def post(self, name):
        if name not in self.server.aliases:
            self.set_status(404)
            self.write(f"no worker {name}")
            return
        if name not in draining:
            draining[name] = asyncio.create_task(drain(self.server, name))
            draining[name].add_done_callback(lambda _: draining.pop(name))
        self.set_status(202)


routes = [(r"/drain/([^/]+)", DrainHandler, {})]
