"""What the live tests of the broker share: servers, names, a client, hellos, TAP."""
import array
import ctypes
import errno
import json
import os
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time
import traceback

BROKER = os.path.join(os.environ["AGENT6_BIN"], "agent6-broker")
SCRATCH = os.environ.get("TMPDIR", "/tmp")
LANDLOCK = ctypes.CDLL(None).syscall(444, None, 0, 1)  # its ABI
# The notice of a broker whose Landlock cannot restrict ports.
NO_PORTS = "agent6-broker: this kernel's Landlock lets the broker connect to any port\n"


# --- TAP -------------------------------------------------------------------------------------------
class Tap:
    def __init__(self):
        self.count = self.failed = 0
        self.lock = threading.Lock()

    def ok(self, held, name, *more):
        with self.lock:
            self.count += 1
            self.failed += not held
            print(f"{'ok' if held else 'not ok'} {self.count} - {name}", flush=True)
            if not held:
                for line in more:
                    print(f"# {line}", flush=True)
        return held

    def equal(self, got, want, name):
        return self.ok(got == want, name, f"got {got!r:.300}", f"want {want!r:.300}")

    def skip(self, reason):
        with self.lock:
            self.count += 1
            print(f"ok {self.count} # SKIP {reason}", flush=True)

    def run(self, cases):
        for case in cases:
            began = time.monotonic()
            try:
                case()
            except Exception:
                self.ok(False, case.__name__, *traceback.format_exc().splitlines())
            print(f"# {case.__name__}: {time.monotonic() - began:.1f} s", flush=True)

    def together(self, cases):
        """Those that wait for a time limit wait at the same time."""
        threads = [threading.Thread(target=self.run, args=([case],)) for case in cases]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def done(self):
        print(f"1..{self.count}")
        sys.exit(self.failed > 0)


tap = Tap()


# --- waiting ---------------------------------------------------------------------------------------
DRAIN_SECS = 100  # the most that anything takes on a busy machine


def wait_until(what):
    until = time.monotonic() + DRAIN_SECS
    while not what() and time.monotonic() < until:
        time.sleep(0.02)
    return what()


def state_of(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(") ")[2][0]
    except FileNotFoundError:
        return "gone"


def is_gone(pid):
    return state_of(pid) in ("Z", "gone")


# --- servers ---------------------------------------------------------------------------------------
class Server:
    """Runs `handler(socket)` in a thread per connection; counts what reached it."""

    def __init__(self, handler, address="127.0.0.1", port=0):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.socket = socket.socket(family)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self.socket.bind((address, port))
        except OSError:
            self.socket.close()
            raise
        self.socket.listen(1024)
        self.port = self.socket.getsockname()[1]
        self.handler = handler
        self.connections = 0
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                conn, _ = self.socket.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self.serve, args=(conn,), daemon=True).start()

    def close(self):
        """Frees the port, also where a thread waits for a connection."""
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()

    def serve(self, conn):
        try:
            self.handler(conn)
        except OSError:
            pass
        finally:
            conn.close()


def servers(handler, *addresses):
    """Runs a server at each address, all at one port: at the first that nobody has at any of them."""
    while True:
        found = []
        try:
            for address in addresses:
                found.append(Server(handler, address, found[0].port if found else 0))
            return found
        except OSError as e:
            for server in found:
                server.close()
            if e.errno != errno.EADDRINUSE:
                raise


def echo(conn):
    while data := conn.recv(65536):
        conn.sendall(data)
    conn.shutdown(socket.SHUT_WR)


class Sink:
    """Keeps what arrives, and tells when a connection has ended."""

    def __init__(self):
        self.data = bytearray()
        self.ends, self.ended = [], threading.Event()

    def __call__(self, conn):
        try:
            while data := conn.recv(65536):
                self.data += data
        finally:
            self.ends.append(True)
            self.ended.set()


def black_hole(address="127.0.0.1"):
    """A port that takes no more connections and does not say so: its backlog is full."""
    listener = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    listener.bind((address, 0))
    listener.listen(0)
    held = [listener]
    for _ in range(4):
        probe = socket.socket(listener.family)
        probe.setblocking(False)
        probe.connect_ex(listener.getsockname()[:2])
        held.append(probe)
    time.sleep(0.1)
    return listener.getsockname()[1], held


class Names:
    """A resolver on 127.0.0.1:53: name -> [addresses]; None never answers."""

    def __init__(self, table):
        self.table = table
        self.asked = {}
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 53))
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            query, peer = self.socket.recvfrom(4096)
            labels, at = [], 12
            while query[at]:
                labels.append(query[at + 1:at + 1 + query[at]].decode())
                at += 1 + query[at]
            name = ".".join(labels).lower()
            kind = struct.unpack(">H", query[at + 1:at + 3])[0]
            self.asked[name] = self.asked.get(name, 0) + 1
            addresses = self.table.get(name, [])
            if addresses is None:
                continue
            if callable(addresses):
                addresses = addresses(self.asked[name])
            answers = b""
            for address in addresses:
                family = socket.AF_INET6 if ":" in address else socket.AF_INET
                if kind != (28 if ":" in address else 1):
                    continue
                data = socket.inet_pton(family, address)
                answers += b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, 0, len(data)) + data
            count = answers.count(b"\xc0\x0c")
            flags = 0x8180 if name in self.table else 0x8183
            head = query[:2] + struct.pack(">HHHHH", flags, 1, count, 0, 0)
            self.socket.sendto(head + query[12:at + 5] + answers, peer)


# --- the broker and its agent ----------------------------------------------------------------------
# None, as the agent gives it; what a sanitizer has freed must not look like growth.
ENVIRONMENT = {} if os.environ.get("AGENT6_CONFIG", "release") == "release" else {"ASAN_OPTIONS": "quarantine_size_mb=4"}


class Broker:
    """A broker whose agent is this process. Channels are numbered in the order of `endpoints`."""

    def __init__(self, *endpoints, args=(), prefix=(), pass_fds=(), rules=None, first=None, held=False, env=()):
        self.channels, theirs, argv = [], [], [*prefix, BROKER]
        for endpoint in endpoints:
            mine, other = socket.socketpair()
            mine.settimeout(20)
            self.channels.append(mine)
            theirs.append(other)
            argv += ["--channel", f"{other.fileno()}={endpoint}"]
        read, write = os.pipe()
        argv += ["--control", str(write), *args]
        fds = [other.fileno() for other in theirs] + [write, *pass_fds]
        if rules:
            self.life, other = socket.socketpair()
            theirs.append(other)
            fds.append(other.fileno())
            argv += ["--proxy", f"{other.fileno()}={rules}"]
            listener = socket.create_server(("127.0.0.1", 0))
            self.proxy_port = listener.getsockname()[1]
            if first:
                socket.send_fds(self.life, [b"L"], first)
            socket.send_fds(self.life, [b"L"], [listener.fileno()])
            listener.close()
        self.process = subprocess.Popen(argv, pass_fds=fds, env={**ENVIRONMENT, **dict(env)}, stderr=subprocess.PIPE)
        for other in theirs if not held else ():
            other.close()
        self.theirs = theirs  # held by this process, too
        os.close(write)
        self.control = os.fdopen(read)

    def ask(self, channel=0):
        self.channels[channel].send(b"?")

    def take(self, channel=0):
        """The descriptor for an earlier ask, as a socket; None when none came."""
        data, fds, _, _ = socket.recv_fds(self.channels[channel], 1, 4)
        if not data or not fds:
            return None
        conn = socket.socket(fileno=fds[0])
        conn.settimeout(20)
        return conn

    def connect(self, channel=0):
        self.ask(channel)
        return self.take(channel)

    def fact(self):
        """The next one, behind NO_PORTS."""
        while line := self.control.readline():
            fact = json.loads(line)
            if LANDLOCK >= 4 or "notice" not in fact:
                return fact
        return None

    def status(self, field):
        with open(f"/proc/{self.process.pid}/status") as status:
            for line in status:
                if line.startswith(field + ":"):
                    return line.split()[1]
        return None

    def rss_kib(self):
        return int(self.status("VmRSS"))

    def warm(self, channel=0):
        """A connection that comes and goes: behind it, what the next one needs stands ready."""
        self.connect(channel).close()
        self.fact()

    def descriptors(self):
        """How many it has once it sleeps: whatever was over is closed then."""
        while self.status("State") == "R":
            time.sleep(0.001)
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def open_files(self):
        """What its descriptors above 2 lead to; one that it closes meanwhile is left out."""
        links = []
        for fd in os.listdir(f"/proc/{self.process.pid}/fd"):
            try:
                links += [os.readlink(f"/proc/{self.process.pid}/fd/{fd}")] if int(fd) > 2 else []
            except FileNotFoundError:
                pass
        return links

    def through(self, target, kind="connect", first=b""):
        """A connection through the proxy, and what the proxy answered."""
        conn = socket.create_connection(("127.0.0.1", self.proxy_port))
        conn.settimeout(20)
        host, port = target.rsplit(":", 1)
        if kind == "connect":
            conn.sendall(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode() + first)
            answer = b""
            while b"\r\n\r\n" not in answer and (more := conn.recv(1)):
                answer += more
            return conn, answer.split(b"\r\n")[0]
        conn.sendall(b"\5\1\0")
        if conn.recv(2) != b"\5\0":
            return conn, b"no greeting"
        conn.sendall(b"\5\1\0\3" + bytes([len(host)]) + host.encode() + struct.pack(">H", int(port)) + first)
        return conn, conn.recv(10)[:2]

    def close(self):
        if hasattr(self, "life"):
            self.life.close()
        for channel in self.channels:
            channel.close()
        status = self.process.wait(20)
        self.control.close()
        said = self.process.stderr.read().decode()
        self.process.stderr.close()
        return status, said if LANDLOCK >= 4 else said.replace(NO_PORTS, "", 1)


def can_harden():
    """Whether this kernel has what the hardened profile stands on; where not, that is a skip."""
    if LANDLOCK < 3:
        tap.skip(f"hardened needs Landlock ABI 3, and this kernel has {LANDLOCK}")
    return LANDLOCK >= 3


def end_of(conn):
    """How a connection ends: b'' or the bytes before, 'reset'."""
    data = b""
    try:
        while more := conn.recv(65536):
            data += more
    except ConnectionResetError:
        return "reset" if not data else data
    except socket.timeout:
        return "still open"
    return data


def head(host, more=""):
    return f"GET / HTTP/1.1\r\nHost: {host}\r\n{more}\r\n".encode()


# --- hellos ----------------------------------------------------------------------------------------
def extension(kind, data):
    return struct.pack(">HH", kind, len(data)) + data


def name_extension(*names):
    entries = b"".join(b"\0" + struct.pack(">H", len(n)) + n.encode() for n in names)
    return extension(0, struct.pack(">H", len(entries)) + entries)


def hello(*names, extra=b"", padding=0):
    extensions = extension(0x2a2a, b"") + (name_extension(*names) if names else b"") + extra
    if padding:
        extensions += extension(21, bytes(padding))
    body = b"\x03\x03" + bytes(32) + b"\0" + b"\0\x04\x3a\x3a\x13\x01" + b"\x01\0"
    body += struct.pack(">H", len(extensions)) + extensions
    message = b"\x01" + struct.pack(">I", len(body))[1:] + body
    records = [message[i:i + 16384] for i in range(0, len(message), 16384)]
    return b"".join(b"\x16\x03\x01" + struct.pack(">H", len(r)) + r for r in records)


def certificate(names="DNS:api.test"):
    path = os.path.join(SCRATCH, f"broker-{os.getpid()}.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=api.test",
                    "-addext", f"subjectAltName={names}", "-keyout", path, "-out", path + ".crt"],
                   check=True, capture_output=True)
    return path, path + ".crt"
