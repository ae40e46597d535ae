"""Every system call that agent6-agent makes on its way into confinement, failed in turn.

The agent is given its order, its work and its key at once. Whatever fails, there are two ends: it
says why and exits 125, and not a byte reached the provider; or it asks the provider, and then it is
confined exactly as it always is, as its supervisor and the kernel see it. A layer is also made to
say that it took without having done so. Nothing that was started is left.

    faults.py [CALL]    only faults of that call
"""
import ctypes
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "broker"))
from kit import SCRATCH, can_harden, tap

AGENT = os.path.join(os.environ["AGENT6_BIN"], "agent6-agent")
HOME = os.path.join(SCRATCH, f"faults-{os.getpid()}")
KEY = "sk-canary-0123456789"
ONLY = sys.argv[1] if len(sys.argv) > 1 else None
# They only give back, or cannot fail, or (brk) do not say so by an error.
DULL = {"close", "munmap", "geteuid", "getegid", "getuid", "getgid", "futex", "sched_yield", "exit_group", "brk"}
# The calls that put up a wall: they must be missed when they do nothing.
WALLS = re.compile(r"unshare|landlock_|capset|setrlimit|seccomp\(SECCOMP_SET_MODE_FILTER, 0,"
                   r"|prctl\(PR_SET_|prctl\(PR_CAPBSET_DROP|prctl\(PR_CAP_AMBIENT|prlimit64\(0, RLIMIT_CORE, {")
# Calls that a kernel may lack, and that a program may have to do without.
MAY_LACK = {"landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self", "seccomp", "unshare", "capset"}
# Failures without a trace in the kernel's own account, which have to be tried.
MISSED = ("landlock_restrict_self:retval=0", "unshare:retval=0", "seccomp:retval=0")
# How a kernel without it answers.
NO_LANDLOCK = ("landlock_create_ruleset:error=ENOSYS", "landlock_create_ruleset:retval=0")
STATUS = ("Cap", "NoNewPrivs", "Seccomp", "Uid", "Gid", "Groups")
ENDED, LEAVES, USER = 100, 100, 61234


def order(profile, port):
    policy = {"version": 1, "profile": profile, "cwd": f"{HOME}/ws", "network": "none", "allow_root_jail": True,
              "workspace": {"path": f"{HOME}/ws", "access": "write"}, "protect": []}
    commands = {"policy": policy, "run": "yes", "approval": "confirm", "auto_approve": False, "verify": None,
                "timeout_secs": 20, "verify_timeout_secs": 20}
    channel = {"name": "p", "endpoint": f"127.0.0.1:{port}", "tls": False, "local": True, "private": False}
    return {"version": 1, "profile": profile, "agent_network": "providers", "workspace": f"{HOME}/ws",
            "state_dir": f"{HOME}/state", "channels": [channel], "max_egress_bytes": None, "upstream_proxy": None,
            "commands": commands}


def task(port):
    provider = {"name": "p", "api_format": "anthropic", "base_url": f"http://127.0.0.1:{port}/v1", "auth": "x-api-key",
                "api_version": None, "ca_file": None, "key": KEY, "connect_timeout_secs": 5, "idle_timeout_secs": 20,
                "timeout_secs": 60, "max_retries": 0, "prices": None}
    limits = {"timeout_secs": 30, "max_iterations": 2, "max_output_tokens_per_call": 1000, "context_tokens": 100000,
              "max_calls_per_turn": 4, "max_input_tokens": None, "max_output_tokens": None, "max_microusd": None,
              "best_effort_microusd": None}
    return {"version": 1, "mode": "run", "prompt": "Go.", "result": None,
            "provider": provider, "reviewer": None, "model": "m", "thinking": None, "temperature": None, "limits": limits, "protect": [], "hide": [], "secrets": [],
            "record": False}


class Run:
    """One life of the agent: `events`, `exit`, `asked` (bytes reached the provider) and what it was then."""

    def __init__(self, profile, become, fault=None, log="/dev/null"):
        self.asked, self.seen, self.fault = False, None, fault or ""
        options = ["-o", log] + (["-e", f"trace={fault.split(':')[0]}", "-e", f"inject={fault}"] if fault else [])
        listener = socket.create_server(("127.0.0.1", 0))
        lines = json.dumps(order(profile, listener.getsockname()[1])) + "\n" + json.dumps(task(listener.getsockname()[1])) + "\n"
        self.process = subprocess.Popen(["strace", "-qq", *options, AGENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, env={"PATH": "/usr/bin:/bin", **ASAN}, **become)
        self.process.stdin.write(lines.encode())
        self.process.stdin.flush()
        self.watch(listener)
        self.process.stdin.close()
        self.output = self.process.stdout.read().decode() if not self.asked else self.output
        self.process.stdout.close()
        self.exit = self.process.wait()
        self.left = self.remains()
        events = [json.loads(line) for line in self.output.splitlines()]
        self.confined = next((e["layers"] for e in events if e["event"] == "confined"), None)
        self.reason = next((e.get("reason") for e in events if e["event"] == "result"), None)

    def watch(self, listener):
        """Until the agent asks the provider, or ends."""
        until = time.monotonic() + ENDED
        pidfd = os.pidfd_open(self.process.pid)
        ready, _, _ = select.select([listener, pidfd], [], [], ENDED)
        os.close(pidfd)
        if listener in ready:
            conn, _ = listener.accept()
            conn.settimeout(max(until - time.monotonic(), 1))
            self.asked = KEY.encode() in conn.recv(65536)
            self.seen = self.look()
            self.output = os.read(self.process.stdout.fileno(), 1 << 20).decode()
            self.end()
            conn.close()
        elif not ready:
            self.end()
        listener.close()

    def agent(self):
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as children:
            return int(children.read().split()[0])

    def end(self):
        os.kill(self.agent(), signal.SIGKILL)

    def look(self):
        """The confinement of the living agent, as the kernel has it."""
        pid = self.agent()
        with open(f"/proc/{pid}/status") as status:
            seen = [line.strip() for line in status if line.startswith(STATUS)]
        with open(f"/proc/{pid}/limits") as limits:
            seen += [line.strip() for line in limits if line.startswith("Max core")]
        if os.getuid() == 0:
            own = os.readlink("/proc/self/ns/net")
            seen.append("network " + ("the host's" if os.readlink(f"/proc/{pid}/ns/net") == own else "its own"))
            with open(f"/proc/{pid}/net/route") as routes:
                seen.append(f"routes {len(routes.readlines()) - 1 if 'its own' in seen[-1] else 'of the host'}")
        return seen

    @staticmethod
    def remains():
        """What it started is ours once it is gone; it has to end by itself."""
        left, until = [], time.monotonic() + LEAVES
        while True:
            try:
                if os.waitpid(-1, os.WNOHANG)[0]:
                    continue
            except ChildProcessError:
                return left
            if time.monotonic() > until:
                with open(f"/proc/self/task/{os.getpid()}/children") as children:
                    pids = children.read().split()
                for pid in pids:
                    with open(f"/proc/{pid}/comm") as comm:
                        left.append(f"{pid} {comm.read().strip()}")
                    os.kill(int(pid), signal.SIGKILL)
            time.sleep(0.002)


def calls_of(profile, become):
    """[(call, nth)] between the first byte of the order and the event that says `confined`."""
    log = f"{HOME}/ws/trace"
    if os.path.exists(log):
        os.unlink(log)
    usual = Run(profile, become, log=log)
    counts, calls, inside = {}, [], False
    with open(log) as trace:
        for line in trace:
            match = re.match(r"([a-z0-9_]+)\(", line)
            if not match:
                continue
            name = match[1]
            counts[name] = counts.get(name, 0) + 1
            ordered = line.startswith("read(0,")
            inside = inside or ordered
            if line.startswith("write(1,"):  # the event; strace may not see what an undumpable process writes
                break
            if inside and not ordered and name not in DULL:
                calls.append((name, counts[name], line))
    return usual, calls


def judge(usual, run):
    """What is wrong with this end; None: nothing."""
    if run.left:
        return f"left behind: {run.left}"
    if run.asked:
        if run.fault.startswith(NO_LANDLOCK) and run.confined.get("landlock_abi") == 0:
            told = [run.confined.get(f"landlock_{what}") for what in ("files", "tcp", "scopes")]
            return None if told == [False] * 3 else f"without Landlock, told {told}"  # strict allows that
        if run.fault.startswith(MISSED):
            return "asked without a layer that only said it was there"
        if run.confined != usual.confined:
            return f"asked while {run.confined}"
        return None if run.seen == usual.seen else f"asked as {set(run.seen) ^ set(usual.seen)}"
    if run.exit != 125:
        return f"exit {run.exit}: {run.reason}"
    return None if run.reason else "no reason"


def is_whole(usual, profile):
    """Every wall that the kernel or the agent itself can speak of."""
    layers, seen = usual.confined or {}, "\n".join(usual.seen or [])
    want = {"capabilities": "none", "dumpable": False, "no_new_privs": True, "profile": profile, "sockets": "none"}
    kernel = ["NoNewPrivs:\t1", "Seccomp:\t2", "CapEff:\t" + "0" * 16, "CapPrm:\t" + "0" * 16, "CapInh:\t" + "0" * 16]
    if profile == "strict":
        want |= {"user_namespace": True, "network_namespace": "empty"}
        kernel += ["CapBnd:\t" + "0" * 16] + (["network its own", "routes 0"] if os.getuid() == 0 else [])
    if layers.get("landlock_abi", 0) >= 6:
        want |= {"landlock_tcp": True, "landlock_scopes": True, "landlock_files": profile == "hardened"}
    core = [line.split()[-3:-1] for line in usual.seen or [] if line.startswith("Max core")]
    return want.items() <= layers.items() and all(line in seen for line in kernel) and core == [["1", "1"]]


def faults_of(calls, every):
    """Walls fail in several ways, the rest in one; `every` False: walls alone."""
    for name, nth, line in calls:
        wall = WALLS.match(line)
        if ONLY not in (None, name) or not (every or wall):
            continue
        ways = ("error=EPERM", "retval=0") if wall else ("error=EPERM",)
        for way in ways + (("error=ENOSYS",) if name in MAY_LACK else ()):
            yield f"{name}:{way}:when={nth}", line.strip()


def test_profile(profile, who, become):
    every = not become and os.environ.get("AGENT6_CONFIG") != "asan"  # the sanitizer's own calls may not fail
    usual, calls = calls_of(profile, become)
    tap.ok(usual.asked and usual.confined and not usual.left, f"{profile}, {who}: without a fault it asks", vars(usual))
    tap.ok(is_whole(usual, profile), f"{profile}, {who}: behind every wall", usual.confined, usual.seen)
    asked, cases, bad = 0, 0, 0
    for fault, line in faults_of(calls, every):
        run = Run(profile, become, fault)
        wrong = judge(usual, run)
        asked += run.asked
        cases += 1
        if os.environ.get("VERBOSE"):
            print(f"# {fault} {line[:100]}: {run.reason or 'asked'}")
        if wrong:
            bad += 1
            tap.ok(False, f"{profile}, {who}: {fault}", wrong, line)
    tap.ok(not bad and (ONLY or cases > (150 if every else 10)),
           f"{profile}, {who}: {cases} faults in {len(calls)} calls: {cases - asked} refused, {asked} without effect")


if __name__ == "__main__":
    os.makedirs(f"{HOME}/ws")
    os.makedirs(f"{HOME}/state")
    ASAN = {k: v for k, v in os.environ.items() if k == "ASAN_OPTIONS"}
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    os.chmod(f"{HOME}/ws", 0o777)
    os.chmod(f"{HOME}/state", 0o777)
    people = {"root": {}, "user": {"user": USER, "group": USER, "extra_groups": []}} if os.getuid() == 0 else {"user": {}}
    profiles = ("strict", "hardened") if can_harden() else ("strict",)
    tap.run([lambda p=profile, w=who: test_profile(p, w, people[w]) for who in people for profile in profiles])
    subprocess.run(["rm", "-rf", HOME])
    tap.done()
