"""Load and faults: storms over the broker while a witness goes on, and what is left of them; then
SIGKILL of each process of a run, and what is left of that."""
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "broker"))
from kit import BROKER, DRAIN_SECS, SCRATCH, Broker, Names, Server, Sink, black_hole, echo, head, hello, is_gone, tap, wait_until

PUBLIC = "93.184.216.34"
BIN = os.environ["AGENT6_BIN"]
HOME = os.path.join(SCRATCH, f"load-{os.getpid()}")
ROOM_KIB = 2048 if os.environ.get("AGENT6_CONFIG", "release") == "release" else 64 * 1024
BIG = bytes(4 << 20)
RESET = b"\1\0\0\0\0\0\0\0"


class Witness:
    """A connection that was there before and must not notice: it echoes all the time."""

    def __init__(self, broker, channel):
        self.conn, self.rounds, self.broken, self.over = broker.connect(channel), 0, None, False
        self.conn.sendall(head("127.0.0.1"))
        self.conn.recv(1000)
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        try:
            while not self.over:
                said = b"%d" % self.rounds
                self.conn.sendall(said)
                if self.conn.recv(100) != said:
                    raise OSError("another answer")
                self.rounds += 1
                time.sleep(0.005)
        except OSError as problem:
            self.broken = problem

    def end(self, name):
        wait_until(lambda: self.broken or self.rounds > 10)  # a storm may be over before ten rounds are
        self.over = True
        self.thread.join()
        tap.ok(self.broken is None and self.rounds > 10, f"{name}: another connection is not disturbed",
               self.broken, self.rounds)
        self.conn.close()


class Watched:
    """A broker with a witness; `after` says what a storm has left in it."""

    def __init__(self, *endpoints, rules=None):
        self.server = Server(echo)
        self.broker = Broker(f"127.0.0.1:{self.server.port},plain", *endpoints, rules=rules)
        self.witness = Witness(self.broker, 0)
        self.broker.warm()
        self.held, self.rss = self.state(), self.broker.rss_kib()
        self.facts = []
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        while fact := self.broker.fact():
            self.facts.append(fact)

    def state(self):
        return self.broker.descriptors(), self.broker.status("Threads")

    def after(self, name, connections):
        tap.ok(wait_until(lambda: len(self.facts) >= connections), f"{name}: a fact for each of {connections}", len(self.facts))
        tap.ok(wait_until(lambda: self.state() == self.held), f"{name}: no descriptor and no thread is left",
               self.state(), self.held)
        grown = self.broker.rss_kib() - self.rss
        tap.ok(grown < ROOM_KIB, f"{name}: nor memory", f"{grown} KiB")
        conn = self.broker.connect(0)
        conn.sendall(head("127.0.0.1"))
        tap.equal(conn.recv(1000), head("127.0.0.1"), f"{name}: and it serves on")
        conn.close()

    def end(self, name):
        self.witness.end(name)
        tap.equal(self.broker.close(), (0, ""), f"{name}: and ends well")
        self.reader.join()


# --- resets, at every phase, from either side --------------------------------------------------------
def reset(conn):
    conn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)


def at_once(conn):
    reset(conn)


def after_first(conn):
    conn.recv(10)
    reset(conn)


def in_upload(conn):
    conn.recv(100000)
    reset(conn)


def in_download(conn):
    conn.recv(1000)
    conn.settimeout(0.05)
    try:
        conn.sendall(BIG)
    except OSError:
        pass
    reset(conn)


def after_its_end(conn):
    conn.recv(1000)
    conn.shutdown(socket.SHUT_WR)
    conn.recv(10)
    reset(conn)


def after_our_end(conn):
    while conn.recv(65536):
        pass
    reset(conn)


SERVERS = [at_once, after_first, in_upload, in_download, after_its_end, after_our_end]


def quiet(action):
    try:
        action()
    except OSError:
        pass


def upload(conn, opening):
    conn.settimeout(0.02)
    quiet(lambda: conn.sendall(opening + BIG))


def download(conn, opening):
    conn.settimeout(0.02)
    conn.sendall(opening)
    quiet(lambda: conn.recv(10))


def half_closed(conn, opening):
    conn.sendall(opening)
    conn.shutdown(socket.SHUT_WR)


CLIENTS = [lambda conn, opening: None,
           lambda conn, opening: conn.sendall(opening[:1]),
           lambda conn, opening: conn.sendall(opening[:len(opening) // 2]),
           lambda conn, opening: conn.sendall(opening),
           upload, download, half_closed]


def test_resets():
    servers = [Server(handler, PUBLIC) for handler in SERVERS]
    endpoints = [f"{PUBLIC}:{server.port},plain" for server in servers]
    endpoints += [f"api.test:{server.port},tls" for server in servers]
    watched = Watched(*endpoints)
    cases = [(channel, client) for channel in range(len(endpoints)) for client in CLIENTS] * 6
    random.Random(6).shuffle(cases)
    for channel, client in cases:
        conn = watched.broker.connect(channel + 1)
        plain = channel < len(servers)
        quiet(lambda: client(conn, head(PUBLIC) if plain else hello("api.test")))
        conn.close()
    watched.after("resets", len(cases))
    watched.end("resets")


def test_proxy_resets():
    servers = [Server(handler, PUBLIC) for handler in SERVERS]
    watched = Watched(rules=",".join(f"api.test:{server.port}" for server in servers))
    asks = [f"CONNECT api.test:{server.port} HTTP/1.1\r\n\r\n".encode() for server in servers]
    cases = [(ask, cut) for ask in asks for cut in (0, 1, 8, len(ask) - 1, len(ask))] * 6
    for ask, cut in cases:
        conn = socket.create_connection(("127.0.0.1", watched.broker.proxy_port))
        conn.sendall(ask[:cut])
        if cut == len(ask):
            quiet(lambda: (conn.recv(100), conn.settimeout(0.05), conn.sendall(BIG)))
        reset(conn)
        conn.close()
    watched.after("resets of the proxy's clients", len(cases))
    watched.end("resets of the proxy's clients")


# --- what does not answer ------------------------------------------------------------------------------
def test_silence():
    """Black holes and stalled names on two channels, forty of each; half are given up at once."""
    hole, held = black_hole(PUBLIC)
    watched = Watched(f"{PUBLIC}:{hole},plain", "stall.test:80,plain")
    conns = [watched.broker.connect(1 + number % 2) for number in range(80)]
    for conn in conns[::2] + conns[1::4]:
        conn.close()
    served = 0
    for _ in range(100):
        conn = watched.broker.connect(0)
        conn.sendall(head("127.0.0.1"))
        served += conn.recv(1000) == head("127.0.0.1")
        conn.close()
    tap.equal(served, 100, "silence: a hundred others are served meanwhile")
    for conn in conns[3::4]:
        tap.ok(conn.recv(1) == b"", "silence: who waits is told")
        conn.close()
    watched.after("silence", 180)
    refused = {fact.get("refused") for fact in watched.facts if fact["channel"]}
    tap.ok(refused <= {"dial", None}, "silence: and why", refused)
    watched.end("silence")
    del held


def test_silent_readers():
    """Two hundred that ask for much and take nothing: bounded, and gone when they go."""
    def flood(conn):
        conn.recv(1000)
        quiet(lambda: conn.sendall(BIG))

    watched = Watched(f"{PUBLIC}:{Server(flood, PUBLIC).port},plain")
    conns = [watched.broker.connect(1) for _ in range(200)]
    for conn in conns:
        conn.sendall(head(PUBLIC))
    time.sleep(0.5)
    each = (watched.broker.rss_kib() - watched.rss) / 200
    tap.ok(each < 160 + ROOM_KIB / 200, "silent readers: at most 64 KiB each way", f"{each:.0f} KiB each")
    for conn in conns:
        conn.close()
    tap.ok(wait_until(lambda: watched.state() == watched.held), "silent readers: no descriptor is left", watched.state())
    watched.end("silent readers")


# --- SIGKILL -------------------------------------------------------------------------------------------
AGENT = f"""
import socket, subprocess, sys, time
pairs = [socket.socketpair() for _ in sys.argv[1:]]
argv = [{BROKER!r}] + [f"--channel={{b.fileno()}}={{e}}" for (a, b), e in zip(pairs, sys.argv[1:])]
broker = subprocess.Popen(argv, pass_fds=[b.fileno() for a, b in pairs])
held = []
for number in range(180):
    a = pairs[number % len(pairs)][0]
    a.send(b"x")
    conn = socket.socket(fileno=socket.recv_fds(a, 1, 1)[1][0])
    conn.sendall({head("127.0.0.1")!r})
    held.append(conn)
print(broker.pid, flush=True)
time.sleep(600)
"""


def test_killed_under_load():
    """Either side, with 180 connections: a third relays, a third is in a black hole, a third asks a name."""
    ended = [0]

    def count(conn):
        quiet(lambda: echo(conn))
        ended[0] += 1

    for victim in ("agent", "broker"):
        ended[0] = 0
        server = Server(count)
        hole, held = black_hole()
        endpoints = [f"127.0.0.1:{server.port},plain", f"127.0.0.1:{hole},plain", "stall.test:80,plain"]
        agent = subprocess.Popen([sys.executable, "-c", AGENT, *endpoints], stdout=subprocess.PIPE, text=True)
        broker = int(agent.stdout.readline())
        wait_until(lambda: server.connections == 60)
        os.kill(agent.pid if victim == "agent" else broker, signal.SIGKILL)
        tap.ok(wait_until(lambda: is_gone(broker)), f"SIGKILL of the {victim} under load: the broker is gone")
        tap.ok(wait_until(lambda: ended[0] == 60), f"SIGKILL of the {victim} under load: its servers see all ends", ended)
        agent.kill()
        agent.wait()
        agent.stdout.close()
        del held


MACHINE = """machine: killed
version: 1
initial: model
budget: {max_transitions: 9}
schemas: {said: {text: str}}
states:
  model:
    kind: agent
    prompt: Go.
    output_schema: said
    timeout_secs: 60
    on: {ok: good, failed: good, budget_exhausted: bad, timeout: bad}
  good: {kind: terminal, status: ok, reason: good}
  bad: {kind: terminal, status: failed, reason: bad}
"""


def family(pid):
    """{name: pid} of everything below `pid`; the kernel's list may miss one while another ends."""
    found = {}
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as children:
                for child in children.read().split():
                    with open(f"/proc/{child}/comm") as comm:
                        found[comm.read().strip()] = int(child)
                    found |= family(child)
    except (FileNotFoundError, ProcessLookupError):
        pass
    return found


def test_killed_run():
    """agent6 itself, while its provider is silent: whoever dies, the others go, and it is said."""
    asked = threading.Event()

    def silent(conn):
        conn.recv(1000)
        asked.set()
        conn.recv(1)

    server = Server(silent)
    for name in ("ws", "config/agent6", "bundle"):
        os.makedirs(f"{HOME}/{name}")
    with open(f"{HOME}/bundle/machine.yaml", "w") as file:
        file.write(MACHINE)
    with open(f"{HOME}/config/agent6/config.yaml", "w") as file:
        json.dump({"models": {"worker": {"provider": "p", "model": "m"}}, "providers": {"p": {
            "api_format": "anthropic", "auth": "none", "base_url": f"http://127.0.0.1:{server.port}", "max_retries": 0}}}, file)
    env = {"PATH": "/usr/bin:/bin", "HOME": HOME, "XDG_CONFIG_HOME": f"{HOME}/config", "AGENT6_ALLOW_ROOT": "1",
           "AGENT6_STATE_HOME": f"{HOME}/state", "LANG": "C.UTF-8"}
    for victim, status in (("agent6-broker", 0), ("agent6-agent", 0), ("agent6", -9)):
        asked.clear()
        run = subprocess.Popen([f"{BIN}/agent6", "machine", "run", "--json", "--id", f"of-{victim}", f"{HOME}/bundle"],
                               cwd=f"{HOME}/ws", env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        tap.ok(asked.wait(DRAIN_SECS), f"SIGKILL of {victim}: the provider was asked before")
        people = {}
        wait_until(lambda: people.update(family(run.pid)) or {"agent6-agent", "agent6-broker"} <= set(people))
        people["agent6"] = run.pid  # a child that executes nothing yet has the name, too
        os.kill(people[victim], signal.SIGKILL)
        said = run.communicate(timeout=DRAIN_SECS)[0]
        tap.equal(run.returncode, status, f"SIGKILL of {victim}: the run's end")
        tap.ok(wait_until(lambda: all(is_gone(pid) for pid in people.values())), f"SIGKILL of {victim}: nobody is left", people)
        if victim != "agent6":
            facts = [json.loads(line) for line in said.splitlines() if '"fact"' in line]
            tap.ok(facts and facts[0]["fact"].get("outcome") == "failed" and facts[0]["fact"].get("reason"),
                   f"SIGKILL of {victim}: the state has failed, and says why", said)
    again = subprocess.run([f"{BIN}/agent6", "machine", "status", "of-agent6"], cwd=f"{HOME}/ws", env=env,
                           capture_output=True, text=True)
    tap.equal(again.returncode, 0, "SIGKILL of agent6: the instance is there to go on with")


if __name__ == "__main__":
    os.makedirs(HOME)
    NAMES = Names({"api.test": [PUBLIC], "stall.test": None})
    tap.run([test_resets, test_proxy_resets, test_silent_readers, test_killed_under_load, test_killed_run, test_silence])
    shutil.rmtree(HOME, ignore_errors=True)
    tap.done()
