"""Every row of the network matrix, started: what an agent, its commands and a tool really reach.

agent6, its jail and its broker are the real ones. The agent is one whose model has taken over (see
agent.c): it, a command it runs and the tool state make every attempt of the corpus (attempts.h), which
is first shown to work where nothing stands in its way. A row that is refused must say so in the words
of the table, and its advice must lead to one that starts.
"""
import collections
import concurrent.futures
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "broker"))
from kit import LANDLOCK, SCRATCH, Names, Server, can_harden, hello, tap

PUBLIC, PUBLIC6 = "93.184.216.34", "2606:4700:77::1"
BIN, OUT = os.environ["AGENT6_BIN"], os.environ["AGENT6_OUT"]
HOME = os.path.join(SCRATCH, f"matrix-{os.getpid()}")
USER = 61234
BUDGET = 1500
RAN, REFUSED = 0, 2
Row = collections.namedtuple("Row", "profile agent tool asked")
LOCK = threading.Lock()


# --- who listens -----------------------------------------------------------------------------------
class Heard:
    """Everything that reached somebody outside, line by line."""

    def __init__(self):
        self.lines = []

    def note(self, text):
        with LOCK:
            self.lines += text.splitlines() or ["(a connection without a word)"]

    def of(self, mark, role):
        with LOCK:
            return {line.split()[2] for line in self.lines if line.split()[:2] == [mark, role]}

    def unmarked(self):
        with LOCK:
            return [line for line in self.lines if len(line.split()) != 3]


HEARD = Heard()


def listen(conn):
    said = b""
    while data := conn.recv(4096):
        said += data
        HEARD.note(data.decode(errors="replace"))
        conn.sendall(b"!")
    if not said:
        HEARD.note("")


def listen_packets(sock):
    def serve():
        while True:
            data, peer = sock.recvfrom(4096)
            HEARD.note(data.decode(errors="replace"))
            try:
                sock.sendto(b"!", peer)
            except (OSError, TypeError):
                pass

    threading.Thread(target=serve, daemon=True).start()


class Leaks(dict):
    """Whoever looks up a name below leak.test has told it to the world."""

    def __contains__(self, name):
        if not name.endswith(".leak.test"):
            return super().__contains__(name)
        attempt, role, mark = name.split(".")[:3]
        HEARD.note(f"{mark} {role} {attempt.replace('-', '_')}")
        return True

    def get(self, name, other=None):
        return [PUBLIC] if name.endswith(".leak.test") else super().get(name, other)


def listen_names():
    names = Names(Leaks({"api.test": [PUBLIC], "rebound.test": ["127.0.0.1"], "meta.test": ["169.254.169.254"]}))

    def by_tcp(conn):
        data = conn.recv(4096)
        labels, at = [], 14
        while data[at]:
            labels.append(data[at + 1:at + 1 + data[at]].decode())
            at += 1 + data[at]
        _ = ".".join(labels) in names.table
        conn.sendall(b"!")

    Server(by_tcp, "127.0.0.1", 53)


def listen_unix(path, handler, kind=socket.SOCK_STREAM):
    sock = socket.socket(socket.AF_UNIX, kind)
    sock.bind(path)
    if kind == socket.SOCK_DGRAM:
        return listen_packets(sock)
    sock.listen(16)
    if not path.startswith("\0"):
        os.chmod(path, 0o777)

    def serve():
        while True:
            conn, _ = sock.accept()
            try:
                handler(conn)
            except OSError:
                pass
            conn.close()

    threading.Thread(target=serve, daemon=True).start()
    return None


def pass_on(conn):
    """A service that lends its own connection to whoever asks."""
    with socket.create_connection(("127.0.0.1", PORT)) as mine:
        conn.sendall(b"!")
        socket.send_fds(conn, [b"F"], [mine.fileno()])
        conn.recv(1)


def listen_everywhere():
    first = Server(listen, "127.0.0.1")
    for address in (PUBLIC, "::1", PUBLIC6, "169.254.169.254"):
        Server(listen, address, first.port)
    for address, protocol in (("127.0.0.1", 17), (PUBLIC, 17), (PUBLIC6, 17), ("127.0.0.1", 136)):
        try:
            sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM, protocol)
            sock.bind((address, first.port))
            listen_packets(sock)
        except OSError as problem:
            print(f"# nobody listens for protocol {protocol}: {problem}")
    try:
        sctp = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 132)
        sctp.bind(("127.0.0.1", first.port))
        sctp.listen(16)
        threading.Thread(target=lambda: listen(sctp.accept()[0]), daemon=True).start()
    except OSError as problem:
        print(f"# nobody listens for SCTP: {problem}")
    listen_names()
    return first.port


def put_sockets(work):
    """What a careless host leaves in a workspace: sockets of services that can reach the world."""
    os.makedirs(f"{work}/sockets", exist_ok=True)
    here = os.open(work, os.O_PATH | os.O_DIRECTORY)
    for name, handler in (("agent.sock", listen), ("pass.sock", pass_on), ("sockets/agent.sock", listen)):
        if os.path.exists(f"{work}/{name}"):
            os.unlink(f"{work}/{name}")
        listen_unix(f"/proc/self/fd/{here}/{name}", handler)
    owner = os.stat(work)
    os.chown(f"{work}/sockets", owner.st_uid, owner.st_gid)
    os.close(here)


ANNOUNCED, HOLDERS = set(), {}


def meet_agents():
    """An agent says where it works, finds sockets there, learns its mark, and whom to aim at."""
    def welcome(conn):
        work = b""
        while data := conn.recv(4096):
            work += data
        mark = work.decode()[len(HOME) + 1:].split("/")[0]
        with LOCK:
            ANNOUNCED.add(mark)
        put_sockets(work.decode())
        conn.sendall(f"{mark} {HOLDERS[mark.split('-')[0]]}".encode())

    listen_unix(f"{HOME}/control", welcome)


# --- one start -------------------------------------------------------------------------------------
def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def targets(mark, holder):
    names = {"MARK": mark, "PORT": PORT, "OTHER": OTHER.port, "PUBLIC": PUBLIC, "PUBLIC6": PUBLIC6,
             "ABSTRACT": ABSTRACT, "ABSTRACT_DGRAM": ABSTRACT + "-d", "PASS": ABSTRACT + "-p",
             "DOCKER": f"{HOME}/outside/docker.sock", "SECRET": f"{HOME}/outside/secret", "CONTROL": f"{HOME}/control", "HOLDER": holder,
             "HELLO_OWN": hello("api.test").hex(), "HELLO_EVIL": hello("evil.test").hex(), "HELLO_NONE": hello().hex()}
    return "".join(f"EGRESS_{name}={value}\n" for name, value in names.items())


STATES = """machine: row
version: 1
initial: model
budget: {max_transitions: 9}
schemas: {said: {text: str}}
config: {budget: {}}
states:
  model:
    kind: agent
    mode: %(mode)s
    prompt: Go.
    output_schema: said
    timeout_secs: 60
    on: {ok: %(next)s, failed: bad, budget_exhausted: bad, timeout: bad}
%(tools)s  good: {kind: terminal, status: ok, reason: good}
  bad: {kind: terminal, status: failed, reason: bad}
"""
TOOL = """  %(name)s:
    kind: tool
    command: [scripts/attempt, %(name)s]
    timeout_secs: 60
    on: {ok: %(next)s, nonzero: bad, timeout: bad}
"""


def tool_states(tools):
    """`tools`: (name, what its allow_network says; None: nothing)."""
    text = ""
    for (name, asked), (following, _) in zip(tools, [*tools[1:], ("good", None)]):
        text += TOOL % {"name": name, "next": following}
        if asked:
            text += f"    allow_network: {json.dumps([f'127.0.0.1:{PORT}'] if asked == 'list' else asked)}\n"
    return text


class Start:
    """One machine, started by `who`: an agent and then `tools`; an agent without any runs commands."""

    def __init__(self, who, mark, row, tools, drips=False):
        self.who, self.mark, self.row, self.tools, self.drips = who, mark, row, tools, drips
        self.commands = not tools
        self.dir = f"{HOME}/{mark}"
        self.provider, self.upstream = None, bytearray()

    def serve_provider(self, conn):
        while data := conn.recv(65536):
            self.upstream += data
            conn.sendall(b"!")

    def prepare(self):
        for name in ("config/agent6", "bundle/scripts", "ws", "state"):
            os.makedirs(f"{self.dir}/{name}")
        self.provider = Server(self.serve_provider)
        self.tls = Server(self.serve_provider, PUBLIC)
        r = self.row
        sandbox = {"profile": r.profile, "agent_network": r.agent, "tool_network": r.tool}
        if r.agent == "providers":
            sandbox["allow_urls"] = [f"https://api.test:{self.tls.port}", f"http://rebound.test:{PORT}",
                                     f"http://meta.test:{PORT}"]
        if self.drips:
            sandbox["max_egress_bytes"] = BUDGET
        write(f"{self.dir}/config/agent6/config.yaml", json.dumps({
            "git": {"commit": {"name": "t", "email": "t@t.test"}}, "sandbox": sandbox, "models": {"worker": {"provider": "p", "model": "m"}},
            "providers": {"p": {"api_format": "anthropic", "auth": "none",
                                "base_url": f"http://127.0.0.1:{self.provider.port}"}}}))
        write(f"{self.dir}/bundle/machine.yaml", STATES % {
            "mode": "run" if self.commands else "agent", "next": self.tools[0][0] if self.tools else "good",
            "tools": tool_states(self.tools)})
        shutil.copy(f"{OUT}/tests/security/egress/attempt", f"{self.dir}/bundle/scripts/attempt")
        write(f"{self.dir}/bundle/scripts/targets", targets(self.mark, self.who.holder.pid))
        if self.commands:
            git = ["git", "-C", f"{self.dir}/ws", "-c", "user.name=t", "-c", "user.email=t@t.test"]
            subprocess.run([*git, "init", "-q"], check=True)
            subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "first"], check=True)
        self.who.give(self.dir)

    def run(self):
        self.prepare()
        leak = socket.create_connection(("127.0.0.1", PORT))
        leak.sendall(b"- - -\n")
        done = subprocess.run([f"{HOME}/bin/agent6", "machine", "run", "--json", *self.who.options, f"{self.dir}/bundle"],
                              cwd=f"{self.dir}/ws", env=self.env(), pass_fds=[leak.fileno()], capture_output=True,
                              text=True, timeout=120, **self.who.become)
        leak.close()
        self.status, self.said = done.returncode, done.stderr + done.stdout
        self.lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        return self

    def env(self):
        return {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": self.dir, "LANG": "C.UTF-8", "AGENT6_ALLOW_ROOT": "1",
                "XDG_CONFIG_HOME": f"{self.dir}/config", "AGENT6_STATE_HOME": f"{self.dir}/state"}

    def fact(self, state):
        return next((line["fact"] for line in self.lines if line.get("state") == state and "fact" in line), {})

    def answers(self, role):
        """{attempt: errno} of the agent, the command or the tool."""
        if role in dict(self.tools):
            text = self.fact(role).get("stdout", "")
        else:
            said = (self.fact("model").get("payload") or {}).get("text", "")
            text = said.partition("\ncommand\n")[2 if role == "command" else 0]
        pairs = (line.split() for line in text.splitlines())
        return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2}


class Who:
    def __init__(self, name, uid, options=()):
        self.name, self.uid, self.options = name, uid, list(options)
        self.become = {"user": uid, "group": uid, "extra_groups": []} if uid != os.getuid() else {}
        held = socket.create_connection(("127.0.0.1", PORT))
        held.sendall(b"- - -\n")
        self.holder = subprocess.Popen([f"{HOME}/bin/attempt", "--hold"], pass_fds=[held.fileno()], **self.become)
        HOLDERS[name] = self.holder.pid
        self.worked = self.outside()

    def give(self, path):
        if self.become:
            subprocess.run(["chown", "-R", f"{self.uid}:{self.uid}", path], check=True)

    def outside(self):
        """Every attempt with nothing in its way: what fails here proves nothing inside."""
        mark = f"outside-{self.name}"
        work = f"{HOME}/{mark}"
        os.makedirs(work)
        shutil.copy(f"{HOME}/bin/attempt", f"{work}/attempt")
        write(f"{work}/targets", targets(mark, self.holder.pid))
        self.give(work)
        put_sockets(work)
        with socket.create_connection(("127.0.0.1", PORT)) as leak:
            leak.sendall(b"- - -\n")
            done = subprocess.run([f"{work}/attempt", "outside"], cwd=work, pass_fds=[leak.fileno()], text=True,
                                  capture_output=True, **self.become)
        got = {line.split()[0]: int(line.split()[1]) for line in done.stdout.splitlines()}
        return {name for name, number in got.items() if number == 0}, got


# --- what must come of it ---------------------------------------------------------------------------
THROUGH = {"channel_endpoint", "channel_tls"}  # the two that are the agent's own business


def is_open(kind, way):
    return (kind == "NET" and way == "HOST") or (kind == "LISTED" and way == "LISTED")


def check_role(start, role, way, name):
    answers = start.answers(role)
    if not tap.ok(set(KINDS) <= set(answers), f"{name}: {role}: every attempt was made", start.said[-2000:], answers):
        return
    opened = {a for a, number in answers.items() if number == 0 and a in KINDS}
    want = {a for a, kind in KINDS.items() if is_open(kind, way)}
    tap.equal(opened, want, f"{name}: {role}: {way} is what it gets")
    heard = HEARD.of(start.mark, role)
    tap.equal(heard, want, f"{name}: {role}: and what was heard outside")


def check_channels(start, name):
    answers = {a: n for a, n in start.answers("agent").items() if a.startswith("channel_") or a == "drip"}
    want = THROUGH if start.row.agent == "providers" else {"channel_endpoint"}
    tap.equal({a for a, n in answers.items() if n == 0}, want, f"{name}: agent: its channels lead to their hosts alone")
    host = {a: n for a, n in start.answers("agent").items() if a.startswith("host_")}
    if LANDLOCK >= 6:
        tap.ok(host.get("host_signal"), f"{name}: agent: Landlock keeps its signals in", host)
    if start.row.profile == "hardened":
        tap.ok(host.get("host_file"), f"{name}: agent: and the host's files out", host)
    sent = bytes(start.upstream)
    tap.ok(not any(word in sent for word in (b"evil", b"169.254", b"CONNECT", b"http://")),
           f"{name}: agent: nobody else's name passed", sent)
    if start.drips:
        tap.equal((answers.get("drip", 0) > 0, len(sent)), (True, BUDGET), f"{name}: agent: a drip ends at the byte budget")


def check_started(start, name):
    if not tap.equal(start.status, RAN, f"{name}: starts"):
        print("# " + start.said[-3000:].replace("\n", "\n# "))
        return False
    begun = next((line for line in start.lines if line.get("t") == "begin"), {})
    tap.equal(begun.get("profile"), start.row.profile, f"{name}: under the profile")
    check_role(start, "agent", ROWS[start.row]["agent"], name)
    check_channels(start, name)
    if start.commands:
        check_role(start, "command", ROWS[start.row]["command"], name)
    for tool, asked in start.tools:
        check_role(start, tool, ROWS[start.row._replace(asked=asked or "auto")]["tool"], name)
    return True


def check_refused(start, tool, way, name):
    refusal = MATRIX["refusals"][way]
    subject = "config.yaml:1:" if way == "NOT_LOADED" else f"state {tool}: "
    tap.ok(start.status == REFUSED and subject in start.said, f"{name}: is refused and says of what", start.status, start.said)
    tap.ok("sandbox." in start.said or "tool_network" in start.said, f"{name}: names the setting", start.said)
    said = " ".join(start.said.split())
    tap.ok(refusal["reason"] in said, f"{name}: gives the reason", said)
    tap.ok(refusal["fix"] in said, f"{name}: and the fix", said)
    ran = start.mark in ANNOUNCED or any(line.get("t") == "step" for line in start.lines)
    tap.ok(not ran, f"{name}: and nothing was started")


WORDS = {"only_explicit_states": "only_explicit_states", "open": "open the agent's network", "auto": "take allow_network away",
         "block": "allow_network block", "strict": "strict"}


def check_advice(row, way, started, name):
    """Each piece of advice is in the words, and leads to a start, at most by way of another refusal."""
    for change in MATRIX["refusals"][way]["changes"]:
        for value in change.values():
            tap.ok(WORDS[value] in MATRIX["refusals"][way]["fix"], f"{name}: the fix says {value}")
        after = row._replace(**change)
        again = refusal_of(after)
        tap.ok(again != way and (after in started if not again else leads_on(after, again, started)),
               f"{name}: with {change} it starts", after)


def leads_on(row, way, started):
    return any(row._replace(**change) in started for change in MATRIX["refusals"][way]["changes"])


def refusal_of(row):
    way = ROWS[row]["tool"]
    return way if way in MATRIX["refusals"] else None


# --- the matrix -------------------------------------------------------------------------------------
def rows_of(who):
    """Every row, with one tool state."""
    for number, row in enumerate(PLAYED):
        drips = (row.agent, row.tool, row.asked) == ("providers", "block", "auto")
        yield Start(who, f"{who.name}-{number}", row, [("tool", row.asked)], drips)


def mixtures_of(who):
    """Per profile, agent_network and tool_network: commands; all kinds of tool states together, one that
    says nothing among them; and those of them alone that are not refused."""
    for number, row in enumerate(row for row in PLAYED if row.asked == "auto" and not refusal_of(row)):
        mark = f"{who.name}-{number}"
        every = [("none", None), ("auto", "auto"), ("block", "block"), ("allow", "allow"), ("list", "list")]
        some = [(name, asked) for name, asked in every if not refusal_of(row._replace(asked=asked or "auto"))]
        yield Start(who, f"{mark}-c", row, [])
        yield Start(who, f"{mark}-s", row, some)
        if some != every:
            yield Start(who, f"{mark}-e", row, every)


def check_mixture(start, name):
    refused = {tool: way for tool, asked in start.tools if (way := refusal_of(start.row._replace(asked=asked or "auto")))}
    for tool, way in refused.items():
        check_refused(start, tool, way, f"{name}, {tool}")
    if refused:
        tap.ok(not any(f"state {tool}:" in start.said for tool, _ in start.tools if tool not in refused),
               f"{name}: no other state is named", start.said)
    else:
        check_started(start, name)


def test_who(who):
    worked, got = who.worked
    never = [a for a in KINDS if KINDS[a] != "LISTED" and a != "proxy_other" and a not in worked]
    for attempt in never:
        print(f"# {attempt} as {who.name}: fails outside too ({os.strerror(got.get(attempt, 5))}): proves nothing inside")
    tap.ok(NEEDED <= worked, f"{who.name}: the attempts work where nothing stands in their way", NEEDED - worked, got)
    rows, mixtures = list(rows_of(who)), list(mixtures_of(who))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(Start.run, rows + mixtures))
    started = set()
    for start in rows:
        way, name = refusal_of(start.row), f"{who.name}: {', '.join(start.row)}"
        if way:
            check_refused(start, "tool", way, name)
        elif check_started(start, name):
            started.add(start.row)
    for row in filter(refusal_of, PLAYED):
        check_advice(row, refusal_of(row), started, f"{who.name}: {', '.join(row)}")
    for start in mixtures:
        check_mixture(start, f"{who.name}: {', '.join(start.row[:3])}, {'+'.join(dict(start.tools)) or 'commands'}")
    who.holder.kill()
    who.holder.wait()


# Attempts that must succeed outside on any host, for root and for users.
NEEDED = {"tcp_loopback", "tcp_public", "tcp6_loopback", "tcp6_public", "udp_loopback", "udp_public", "udp6_public",
          "dns_libc", "dns_udp", "dns_tcp", "fastopen_sendto", "fastopen_sendmsg", "fastopen_connect", "abstract_stream",
          "abstract_dgram", "docker", "workspace_socket", "workspace_renamed", "passed_workspace", "passed_abstract",
          "passed_reconnect", "inherited"}


def set_stage():
    global ABSTRACT, PORT, OTHER, KINDS
    os.makedirs(f"{HOME}/bin")
    os.makedirs(f"{HOME}/outside")
    os.chmod(HOME, 0o755)
    ABSTRACT = f"egress-{os.getpid()}"
    PORT = listen_everywhere()
    OTHER = Server(listen, "127.0.0.1")
    for program in ("agent6", "agent6-jail", "agent6-broker"):
        shutil.copy(f"{BIN}/{program}", f"{HOME}/bin/{program}")
    shutil.copy(f"{OUT}/tests/security/egress/agent", f"{HOME}/bin/agent6-agent")
    shutil.copy(f"{OUT}/tests/security/egress/attempt", f"{HOME}/bin/attempt")
    for name, handler in ((ABSTRACT, listen), (ABSTRACT + "-p", pass_on)):
        listen_unix("\0" + name, handler)
    listen_unix("\0" + ABSTRACT + "-d", None, socket.SOCK_DGRAM)
    listen_unix(f"{HOME}/outside/docker.sock", listen)
    os.chmod(f"{HOME}/outside", 0o755)
    write(f"{HOME}/outside/secret", "secret\n")
    meet_agents()
    os.chmod(f"{HOME}/control", 0o777)
    write(f"{HOME}/bin/targets", targets("", 0))
    KINDS = dict(line.split()[:2] for line in
                 subprocess.check_output([f"{HOME}/bin/attempt", "--kinds"], text=True).splitlines())


def strike_stage():
    subprocess.run(["chmod", "-R", "u+w", HOME])
    shutil.rmtree(HOME, ignore_errors=True)


if __name__ == "__main__":
    MATRIX = json.loads(subprocess.check_output([f"{OUT}/host/network_doc", "--json"]))
    ROWS = {Row(**row["on"]): row for row in MATRIX["rows"]}
    PLAYED = list(ROWS) if can_harden() else [row for row in ROWS if row.profile == "strict"]
    set_stage()
    tap.equal(len(ROWS), 2 * 3 * 3 * 4, "the matrix is whole")
    people = [Who("user", USER if os.getuid() == 0 else os.getuid())]
    if os.getuid() == 0:
        people.append(Who("root", 0, ["--allow-root-jail"]))
    tap.run([lambda who=who: test_who(who) for who in people])
    tap.equal(HEARD.unmarked(), [], "nobody else was heard of")
    strike_stage()
    tap.done()
