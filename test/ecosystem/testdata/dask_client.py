"""A client of Dask that keeps results on its workers while they come and go. It is told by lines what to do, and answers each by a line of JSON."""

import json
import os
import sys
import time

from distributed import Client, wait

scheduler, log = sys.argv[1:]
client = Client(scheduler)
kept, running = [], []


def square(number, seconds):
    with open(log, "a") as file:
        file.write(f"{number}\n")
    time.sleep(seconds)
    return number * number


def hold(number):
    """Runs until the client says that it may finish."""
    with open(log, "a") as file:
        file.write(f"{number}\n")
    while not os.path.exists(log + ".finish"):
        time.sleep(0.05)
    return number * number


def workers():
    return sorted(worker["name"] for worker in client.scheduler_info()["workers"].values())


def held():
    """How many of the kept results each worker has."""
    names = {address: worker["name"] for address, worker in client.scheduler_info()["workers"].items()}
    return {names[address]: len(keys) for address, keys in client.has_what().items() if address in names}


for line in sys.stdin:
    command = line.strip()
    if command == "keep":
        kept = client.map(square, range(200), [0.01] * 200, pure=False)
        wait(kept)
        answer = held()
    elif command == "run":  # one task for each worker, until they may finish
        count = len(workers())
        running = client.map(hold, range(1000, 1000 + count), pure=False)
        while sum(len(keys) for keys in client.processing().values()) < count:
            time.sleep(0.05)
        answer = workers()
    elif command == "finish":
        open(log + ".finish", "w").close()
        answer = workers()
    elif command == "gather":
        answer = [client.gather(kept), client.gather(running)]
    elif command == "computed":  # the numbers in the order in which tasks were started
        with open(log) as file:
            answer = [int(number) for number in file.read().split()]
    else:
        answer = workers()
    print(json.dumps(answer), flush=True)
os._exit(0)  # without the farewell to a scheduler that may be gone
