"""agent6-broker against real sockets: every refusal, every way a connection can go."""
import fcntl
import os
import random
import resource
import select
import signal
import socket
import ssl
import struct
import subprocess
import sys
import termios
import threading
import time

from kit import (BROKER, DRAIN_SECS, ENVIRONMENT, Broker, Names, Server, Sink, black_hole, certificate, echo, end_of,
                 extension, head, hello, is_gone, servers, state_of, tap, wait_until)

PUBLIC, OTHER_PUBLIC = "93.184.216.34", "93.184.216.35"
NAMES = Names({
    "api.test": [PUBLIC],
    "six.test": ["2606:4700:77::1"],
    "both.test": ["2606:4700:77::2", PUBLIC],
    "loop.test": ["127.0.0.1"],
    "loop6.test": ["::1"],
    "meta.test": ["169.254.169.254"],
    "private.test": ["10.1.2.3"],
    "unique.test": ["fd00:77::1"],
    "mapped.test": ["::ffff:127.0.0.1"],
    "any.test": ["0.0.0.0"],
    "mixed.test": ["127.0.0.1", "169.254.169.254", PUBLIC],
    "rebind.test": lambda count: [PUBLIC] if count <= 2 else ["127.0.0.1"],
    "stall.test": None,
})


def refusal(broker, channel, conn, want, name, sent=b""):
    began = time.monotonic()
    if sent:
        try:
            conn.sendall(sent)
        except OSError:
            pass
    ended = end_of(conn)
    tap.ok(ended in (b"", "reset"), f"{name}: closed", f"got {ended!r:.100}")
    tap.ok(time.monotonic() - began < 9, f"{name}: not by a time limit")
    fact = broker.fact()
    tap.equal((fact["channel"], fact["close"], fact.get("refused")), (channel, "refused", want),
              f"{name}: the fact")
    return fact


# --- refusals --------------------------------------------------------------------------------------
def test_sni():
    sink = Sink()
    server = Server(sink, PUBLIC)
    broker = Broker(f"api.test:{server.port},tls")
    cases = [
        ("another name", hello("evil.test"), "sni"),
        ("no name", hello(), "sni"),
        ("the right name twice", hello("api.test", "api.test"), "sni"),
        ("a second name", hello("api.test", "evil.test"), "sni"),
        ("a trailing dot", hello("api.test."), "sni"),
        ("a longer name", hello("api.test.evil.test"), "sni"),
        ("an encrypted hello", hello("api.test", extra=extension(0xfe0d, b"\0" * 20)), "sni"),
        ("a request in plain text", head("api.test"), "hello"),
        ("CONNECT", b"CONNECT evil.test:443 HTTP/1.1\r\n\r\n", "hello"),
        ("garbage", bytes(range(200, 256)), "hello"),
        ("64 KiB of garbage", b"\x16" * 65536, "hello"),
        ("a hello over 16 KiB", hello("api.test", padding=17000), "hello"),
    ]
    for name, sent, want in cases:
        fact = refusal(broker, 0, broker.connect(), want, name, sent)
        tap.equal((fact["up"], fact["down"]), (0, 0), f"{name}: nothing passed")
    conn = broker.connect()
    conn.sendall(hello("api.test")[:40])
    conn.shutdown(socket.SHUT_WR)
    refusal(broker, 0, conn, "hello", "half a hello and the end")
    tap.equal(bytes(sink.data), b"", "the server saw none of it")
    broker.close()


def test_split_hello():
    server = Server(echo, PUBLIC)
    broker = Broker(f"api.test:{server.port},tls")
    for sent in (hello("api.test"), hello("API.TEST")):
        conn = broker.connect()
        for byte in sent:
            conn.sendall(bytes([byte]))
        got = b""
        while len(got) < len(sent):
            got += conn.recv(65536)
        tap.equal(got, sent, "a hello byte by byte arrives whole")
        conn.sendall(b"ping")
        tap.equal(conn.recv(10), b"ping", "and what follows it")
        conn.close()
        fact = broker.fact()
        tap.equal((fact["up"], fact["down"], fact["addr"]), (len(sent) + 4,) * 2 + (PUBLIC,),
                  "and is counted")
    broker.close()


def test_tls():
    """A real handshake; with a server that wants another group, so that there are two hellos."""
    key, chain = certificate()
    for curve in ("X25519", "secp384r1"):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(chain, key)
        if curve != "X25519":
            context.set_ecdh_curve(curve)

        def serve(conn):
            with context.wrap_socket(conn, server_side=True) as tls:
                tls.sendall(tls.recv(100))
                tls.unwrap()

        server = Server(serve, PUBLIC)
        broker = Broker(f"api.test:{server.port},tls")
        client = ssl.create_default_context(cafile=chain)
        with client.wrap_socket(broker.connect(), server_hostname="api.test") as tls:
            tls.sendall(b"hello through the broker")
            tap.equal(tls.recv(100), b"hello through the broker", f"TLS with {curve}")
        fact = broker.fact()
        tap.ok("refused" not in fact, f"TLS with {curve}: not refused", fact)
        broker.close()
    os.unlink(key)
    os.unlink(chain)


def test_host():
    sink = Sink()
    server = Server(sink, PUBLIC)
    at = f"api.test:{server.port}"
    broker = Broker(f"{at},plain")
    cases = [
        ("another host", head("evil.test")),
        ("another port", head("api.test:1")),
        ("no host", b"GET / HTTP/1.1\r\nA: b\r\n\r\n"),
        ("two hosts", head("api.test", "Host: api.test\r\n")),
        ("an absolute target", f"GET http://{at}/ HTTP/1.1\r\nHost: {at}\r\n\r\n".encode()),
        ("CONNECT", f"CONNECT evil.test:443 HTTP/1.1\r\nHost: {at}\r\n\r\n".encode()),
        ("a hello", hello("api.test")),
        ("HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        ("an endless head", head("api.test")[:-2] + b"A: b\r\n" * 5000),
    ]
    for name, sent in cases:
        fact = refusal(broker, 0, broker.connect(), "host", name, sent)
        tap.equal(fact["up"], 0, f"{name}: nothing passed")
    tap.equal(bytes(sink.data), b"", "the server saw none of it")
    conn = broker.connect()
    conn.sendall(head("api.test") + head("evil.test"))
    tap.equal(end_of(conn), b"", "another host in a later request: closed")
    fact = broker.fact()
    tap.equal(fact.get("refused"), "host", "and said")
    tap.ok(b"evil" not in sink.data, "and that host was not sent")
    broker.close()


def test_addresses():
    """Canaries listen on every address that a name may lure the broker to."""
    addresses = ("127.0.0.1", "::1", "169.254.169.254", "10.1.2.3", "fd00:77::1", OTHER_PUBLIC)
    public, *lures = servers(echo, PUBLIC, *addresses)
    port, canaries = public.port, dict(zip(addresses, lures))
    refused = ["loop.test", "loop6.test", "meta.test", "private.test", "unique.test", "mapped.test",
               "any.test", "localhost", "filed.test"]
    broker = Broker(*[f"{name}:{port},plain" for name in refused])
    for channel, name in enumerate(refused):
        refusal(broker, channel, broker.connect(channel), "address", f"{name} without permission")
    broker.close()
    special = ["meta.test:{},plain,private", "meta.test:{},plain,local", "loop.test:{},plain,private",
               "private.test:{},plain,local", "api.test:{},plain,local", "mapped.test:{},plain,local",
               "169.254.169.254:{},plain", "10.1.2.3:{},plain,local", "0.0.0.0:{},plain",
               "[::ffff:127.0.0.1]:{},plain"]
    broker = Broker(*[name.format(port) for name in special])
    for channel, name in enumerate(special):
        refusal(broker, channel, broker.connect(channel), "address", name.format("P"))
    tap.equal({a: s.connections for a, s in canaries.items()}, dict.fromkeys(canaries, 0),
              "no canary was called")
    broker.close()
    allowed = ["loop.test:{},plain,local", "localhost:{},plain,local", "127.0.0.1:{},plain",
               "[::1]:{},plain", "private.test:{},plain,private", "unique.test:{},plain,private",
               "10.1.2.3:{},plain", "[fd00:77::1]:{},plain", "mixed.test:{},plain", "api.test:{},plain,private"]
    broker = Broker(*[name.format(port) for name in allowed])
    for channel, name in enumerate(allowed):
        conn = broker.connect(channel)
        sent = head(name.format(port).split(",")[0])
        conn.sendall(sent)
        tap.equal(conn.recv(200), sent, f"{name.format('P')} may be reached")
        conn.close()
        fact = broker.fact()
        if "mixed" in name:
            tap.equal(fact["addr"], PUBLIC, "of several addresses only the allowed one is used")
    broker.close()


def test_rebinding():
    """The second look-up answers with loopback: each connection is checked by itself."""
    server, canary = servers(echo, PUBLIC, "127.0.0.1")
    broker = Broker(f"rebind.test:{server.port},plain")
    conn = broker.connect()
    conn.sendall(head("rebind.test"))
    tap.equal(conn.recv(200), head("rebind.test"), "the first answer is public")
    conn.close()
    broker.fact()
    refusal(broker, 0, broker.connect(), "address", "the second one is loopback")
    tap.equal(canary.connections, 0, "the canary was not called")
    broker.close()


def test_dial():
    free = socket.create_server((PUBLIC, 0))
    port = free.getsockname()[1]
    free.close()
    broker = Broker(f"api.test:{port},plain", "unknown.test:80,plain", f"mixed.test:{port},plain")
    refusal(broker, 0, broker.connect(0), "dial", "a closed port")
    refusal(broker, 1, broker.connect(1), "dial", "a name that does not exist")
    refusal(broker, 2, broker.connect(2), "dial", "a closed port beside addresses that are not allowed")
    broker.close()


def test_stuck_resolver():
    """A lookup that nobody waits for any more holds nobody up: the resolver would take minutes."""
    server = Server(echo, PUBLIC)
    broker = Broker("stall.test:80,plain", f"api.test:{server.port},plain",
                    env={"RES_OPTIONS": "timeout:30 attempts:4"})
    conn = broker.connect(0)
    wait_until(lambda: NAMES.asked.get("stall.test"))
    conn.close()
    other = broker.connect(1)
    other.sendall(head("api.test"))
    tap.equal(other.recv(100), head("api.test"), "who has given up is served elsewhere meanwhile")
    tap.equal(broker.fact()["close"], "agent", "and the lookup has ended")
    other.close()
    broker.close()


def test_budget():
    for kind in ("plain", "tls"):
        opening = head("api.test") if kind == "plain" else hello("api.test")
        for over in (0, 1, 5000):
            budget = len(opening) + 70000
            sink = Sink()
            server = Server(sink, PUBLIC)
            broker = Broker(f"api.test:{server.port},{kind}", args=["--max-bytes", str(budget)])
            conn = broker.connect()
            conn.sendall(opening + b"x" * 70000)
            if over == 0:
                conn.shutdown(socket.SHUT_WR)
                end_of(conn)
                fact = broker.fact()
                tap.equal((fact.get("refused"), fact["up"]), (None, budget), f"{kind}: exactly N bytes pass")
            else:
                fact = refusal(broker, 0, conn, "budget", f"{kind}: {over} more", b"y" * over)
                tap.equal(fact["up"], budget, f"{kind}: {over} more: N are counted")
            sink.ended.wait(10)
            tap.equal(len(sink.data), budget, f"{kind}: N bytes arrive")
            if over:
                refusal(broker, 0, broker.connect(), "budget", f"{kind}: the next connection")
            broker.close()


def test_budget_is_shared():
    """A slow drip over many connections and two channels crosses the same line."""
    sink = Sink()
    server = Server(sink, PUBLIC)
    at = f"api.test:{server.port}"
    opening = head("api.test")
    budget = 5 * len(opening) + 3
    broker = Broker(f"{at},plain", f"{at},plain", args=["--max-bytes", str(budget)])
    conns = [broker.connect(i % 2) for i in range(6)]
    for number, conn in enumerate(conns):
        conn.sendall(opening)
        wait_until(lambda: len(sink.data) >= min((number + 1) * len(opening), budget))
    tap.equal(end_of(conns[5]), b"", "the sixth is cut")
    tap.equal(broker.fact().get("refused"), "budget", "and why")
    for conn in conns:
        conn.close()
    broker.close()
    wait_until(lambda: len(sink.ends) == 6)
    tap.equal(len(sink.data), budget, "the sum is exact")


def test_time_limits():
    """Time-outs of 10 s, all at once."""
    hole, held = black_hole(PUBLIC)
    server, good = servers(echo, PUBLIC, "127.0.0.1")
    broker = Broker(f"api.test:{hole},plain", f"api.test:{server.port},tls",
                    f"api.test:{server.port},plain", "stall.test:80,plain", f"localhost:{server.port},plain,local",
                    f"api.test:{server.port},plain", f"api.test:{hole},tls", rules=f"api.test:{server.port}")
    request = head("api.test")
    silent = broker.connect(2)

    def half_ahead(conn, sent):
        conn.sendall(sent)
        got = b""
        while len(got) < len(request) and (more := conn.recv(len(request) - len(got))):
            got += more
        return got == request

    pipelining = broker.connect(2)
    pipelined = half_ahead(pipelining, request + request[:8])
    began, rounds = time.monotonic(), 0
    waiting = [broker.connect(i) for i in (0, 1, 2, 3, 5, 6)]
    waiting[1].sendall(hello("api.test")[:-1])
    waiting[5].sendall(hello("api.test"))
    waiting[2].sendall(request[:-1])
    client = socket.create_connection(("127.0.0.1", broker.proxy_port))
    client.settimeout(20)
    client.sendall(b"CONNECT api.test")
    tap.ok(half_ahead(waiting[4], request + request[:-1]), "a request is answered while half of the next waits")
    while time.monotonic() - began < 9:
        conn = broker.connect(4)
        conn.sendall(head("localhost"))
        if conn.recv(100) != head("localhost"):
            break
        conn.close()
        pipelined = pipelined and half_ahead(pipelining, request[8:] + request[:8])
        rounds += 1
        time.sleep(0.05)
    tap.ok(time.monotonic() - began >= 9 and rounds > 0, "others are not disturbed meanwhile",
           f"{rounds} rounds")
    for conn in waiting:
        tap.ok(end_of(conn) in (b"", b"GET ", "reset"), "closed")
    tap.equal(end_of(client)[:12], b"HTTP/1.1 403", "a client of the proxy that does not finish its request is told")
    tap.ok(pipelined and half_ahead(pipelining, request[8:]), "who always sends half a request ahead is served on")
    took = time.monotonic() - began
    tap.ok(took > 9.5, "after 10 s, no sooner", f"{took:.1f} s")
    tap.ok(half_ahead(silent, request), "who has not begun a request may begin one as late as it likes")
    facts = {}
    while len(facts) < 7:
        fact = broker.fact()
        if "refused" in fact:
            facts[fact["channel"]] = fact["refused"]
    tap.equal(facts, {0: "dial", 1: "hello", 2: "host", 3: "dial", 5: "host", 6: "dial", 7: "host"}, "the facts")
    broker.close()
    del held, good


def test_eyeballs():
    """IPv6 does not answer, IPv4 does."""
    server = None
    while not server:
        port, held = black_hole("2606:4700:77::2")
        try:
            server = Server(echo, PUBLIC, port)
        except OSError:
            continue  # taken in the other family
    broker = Broker(f"both.test:{port},plain", f"six.test:{Server(echo, '2606:4700:77::1').port},plain")
    conn = broker.connect()
    began = time.monotonic()
    conn.sendall(head("both.test"))
    tap.equal(conn.recv(100), head("both.test"), "falls back to IPv4")
    tap.ok(time.monotonic() - began < 9, "before the time-out")
    conn.close()
    tap.equal(broker.fact()["addr"], PUBLIC, "as the fact says")
    conn = broker.connect(1)
    conn.sendall(head("six.test"))
    tap.equal(conn.recv(100), head("six.test"), "IPv6 alone")
    conn.close()
    broker.close()
    tap.equal(server.connections, 1, "one connection reached the server")
    del held


def test_keepalive():
    """A peer that is gone is noticed by probes: the kernel runs their timer on the broker's socket."""
    server = Server(echo)
    broker = Broker(f"127.0.0.1:{server.port},plain")
    conn = broker.connect()
    conn.sendall(head("127.0.0.1"))
    conn.recv(100)
    timers = []
    for _ in range(100):  # until nothing waits to be acknowledged
        with open("/proc/net/tcp") as table:
            rows = [line.split() for line in table.readlines()[1:]]
        timers = [row[5].split(":")[0] for row in rows if row[2].endswith(f":{server.port:04X}") and row[3] == "01"]
        if timers == ["02"]:
            break
        time.sleep(0.1)
    tap.equal(timers, ["02"], "keepalive runs on the connection to the endpoint")
    conn.close()
    broker.close()


# --- data ------------------------------------------------------------------------------------------
def test_half_close():
    server = Server(echo)
    broker = Broker(f"127.0.0.1:{server.port},plain")
    data = head("127.0.0.1") + random.randbytes(10 << 20)
    conn, got = broker.connect(), bytearray()

    def read():
        while more := conn.recv(65536):
            got.extend(more)

    reader = threading.Thread(target=read)
    reader.start()
    conn.sendall(data)
    conn.shutdown(socket.SHUT_WR)
    reader.join(60)
    tap.ok(bytes(got) == data, "10 MiB there and back, byte by byte")
    fact = broker.fact()
    tap.equal((fact["up"], fact["down"], fact["close"]), (len(data), len(data), "eof"), "and counted")

    def late(conn):
        while conn.recv(65536):
            pass
        time.sleep(0.3)
        conn.sendall(data)

    broker2 = Broker(f"127.0.0.1:{Server(late).port},plain")
    conn = broker2.connect()
    conn.sendall(head("127.0.0.1"))
    conn.shutdown(socket.SHUT_WR)
    tap.ok(end_of(conn) == data, "10 MiB after our end is closed")
    broker2.close()

    sink = Sink()

    def first(conn):
        conn.shutdown(socket.SHUT_WR)
        sink(conn)

    broker3 = Broker(f"127.0.0.1:{Server(first).port},plain")
    conn = broker3.connect()
    conn.sendall(head("127.0.0.1"))
    tap.equal(conn.recv(10), b"", "the server closes its end first")
    conn.sendall(data[len(head("127.0.0.1")):])
    conn.close()
    sink.ended.wait(20)
    tap.ok(bytes(sink.data) == data, "and still gets 10 MiB")
    broker3.close()
    conn = broker.connect()
    conn.close()
    fact = broker.fact()
    tap.equal((fact["up"], fact["down"], fact.get("refused")), (0, 0, None), "nothing, then the end")
    broker.close()


def test_back_pressure():
    total = 64 << 20
    block = b"z" * 65536

    def flood(conn):
        conn.recv(65536)
        for _ in range(total // len(block)):
            conn.sendall(block)

    slow, quick = Server(flood), Server(echo)
    broker = Broker(f"127.0.0.1:{slow.port},plain", f"127.0.0.1:{quick.port},plain")
    stuck = [broker.connect(0) for _ in range(20)]
    for conn in stuck:
        conn.sendall(head("127.0.0.1"))
    time.sleep(0.5)
    conn = broker.connect(1)
    conn.sendall(head("127.0.0.1"))
    tap.equal(conn.recv(100), head("127.0.0.1"), "another connection flows past 20 that are stuck")
    tap.ok(broker.rss_kib() < limit_kib(16), "in bounded memory", f"{broker.rss_kib()} KiB")
    conn.close()
    for conn in stuck[1:]:
        conn.close()
    got = 0
    while more := stuck[0].recv(1 << 20):
        got += len(more)
    tap.equal(got, total, "a reader that wakes up gets all of it")
    broker.close()


def test_bulk():
    """What comes in bulk: pinned where a body ends, cut where the budget does, no descriptor with it."""
    size = 8 << 20
    body = random.randbytes(size)
    opening = head("api.test", f"Content-Length: {size}\r\n")

    def slow(conn):
        while data := conn.recv(30000):
            sink.data += data
            if len(sink.data) % 7 == 0:
                time.sleep(0.001)
        sink.ended.set()

    for name, args, want, why in (
            ("another host behind 8 MiB", (), opening + body, "host"),
            ("a budget that ends in it", ("--max-bytes", str(size - 1)), (opening + body)[:size - 1], "budget")):
        sink = Sink()
        broker = Broker(f"api.test:{Server(slow, PUBLIC).port},plain", args=args)
        conn = broker.connect()
        conn.settimeout(60)
        try:
            conn.sendall(opening + body + (head("evil.test") if why == "host" else b""))
        except OSError:
            pass
        tap.ok(end_of(conn) in (b"", "reset"), f"{name}: closed")
        sink.ended.wait(30)
        passed = bytes(sink.data)
        tap.ok(want.startswith(passed), f"{name}: nothing but what comes before it arrives", len(passed), len(want))
        tap.ok(why == "host" or passed == want, f"{name}: all of it, where the budget ends")
        fact = broker.fact()
        tap.equal((fact["refused"], fact["up"]), (why, len(passed)), f"{name}: the fact")
        broker.close()
    sink = Sink()
    broker = Broker(f"api.test:{Server(sink, PUBLIC).port},plain", f"127.0.0.1:{Server(echo).port},plain")
    conn = broker.connect()
    conn.sendall(opening + body[:1 << 20])
    broker.warm(1)
    held = broker.descriptors()
    read, write = os.pipe()
    for at in range(1 << 20, 2 << 20, 1 << 15):
        socket.send_fds(conn, [body[at:at + (1 << 15)]], [write])
    os.close(write)
    tap.equal(os.read(read, 1), b"", "descriptors sent with it are closed")
    os.close(read)
    conn.shutdown(socket.SHUT_WR)
    sink.ended.wait(20)
    tap.ok(bytes(sink.data) == opening + body[:2 << 20], "and the bytes around them arrive")
    tap.ok(broker.descriptors() <= held, "the broker kept none")
    broker.close()


def test_out_of_memory():
    """What could not be kept of one connection goes to no other."""
    if ENVIRONMENT:
        return  # a sanitizer has taken all its memory beforehand
    with open("/proc/sys/net/ipv4/tcp_wmem") as sizes:
        roomy = sizes.read()
    with open("/proc/sys/net/ipv4/tcp_wmem", "w") as sizes:
        sizes.write("4096 16384 16384")
    size, shut, heard = 1 << 20, threading.Event(), threading.Semaphore(0)
    opening = head("127.0.0.1", f"Content-Length: {size}\r\n")

    def deafen(conn):
        conn.recv(20000, socket.MSG_WAITALL)
        heard.release()
        shut.wait(60)

    deaf, quick = Server(deafen), Server(echo)
    deaf.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    broker = Broker(f"127.0.0.1:{deaf.port},plain", f"127.0.0.1:{quick.port},plain")
    pid, limit = broker.process.pid, resource.RLIMIT_AS
    stuck = [broker.connect(0) for _ in range(8)]
    for conn in stuck:
        conn.sendall((opening + b"A" * 20000)[:20000])
    for _ in stuck:  # then the broker expects as much again, which it passes by reference
        heard.acquire(timeout=20)
    wait_until(lambda: broker.status("State") == "S")
    os.kill(pid, signal.SIGSTOP)
    before = resource.prlimit(pid, limit, (int(broker.status("VmSize")) << 10, resource.RLIM_INFINITY))
    for conn in stuck:
        conn.sendall(b"A" * 131072)
    os.kill(pid, signal.SIGCONT)
    fact = broker.fact()
    resource.prlimit(pid, limit, before)
    tap.equal(fact["close"], "reset", "without memory a connection ends")
    conn = broker.connect(1)
    conn.sendall(opening)
    got = conn.recv(len(opening), socket.MSG_WAITALL)
    threading.Thread(target=conn.sendall, args=(b"B" * size,), daemon=True).start()
    while len(got) < len(opening) + size and (more := conn.recv(1 << 16)):
        got += more
    tap.ok(got == opening + b"B" * size, "and the next one gets its own bytes", got.count(b"A" * 100))
    shut.set()
    broker.close()
    with open("/proc/sys/net/ipv4/tcp_wmem", "w") as sizes:
        sizes.write(roomy)


def test_agent_ends_early():
    """The agent says that it has said all, before the broker may let anything or all of it pass."""
    answer = threading.Event()

    def serve(conn):
        sink(conn) if answer.wait(20) and not conn.sendall(b"\x15\x03\x03\0\x02\x02\x28") else None

    for kind in ("plain", "tls"):
        server = Server(echo, PUBLIC)
        broker = Broker(f"api.test:{server.port},{kind}")
        conn = broker.connect()
        conn.shutdown(socket.SHUT_WR)
        tap.equal(end_of(conn), b"", f"{kind}: an agent that ends without a word is not waited for")
        tap.equal(broker.fact()["close"], "agent", f"{kind}: and has ended")
        broker.close()
    for more in (b"", bytes(100000)):  # the second is more than the broker holds
        sink = Sink()
        server = Server(serve, PUBLIC)
        broker = Broker(f"api.test:{server.port},tls")
        sent = hello("api.test") + b"\x16\x03\x03\0\x05later" + more
        conn = broker.connect()
        conn.sendall(sent)
        conn.shutdown(socket.SHUT_WR)
        time.sleep(0.3)  # until the broker has read what it will
        answer.set()
        sink.ended.wait(20)
        tap.ok(bytes(sink.data) == sent, "what waits for the server's answer goes out behind the agent's end",
               f"{len(sink.data)} of {len(sent)} bytes")
        answer.clear()
        broker.close()


def test_refused_with_bytes_unread():
    """Who is refused sees an end, though the broker has not read all that was sent."""
    server = Server(echo, PUBLIC)
    broker = Broker(f"api.test:{server.port},tls")
    conn = broker.connect()
    conn.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    os.kill(broker.process.pid, signal.SIGSTOP)
    conn.sendall(b"no hello" * 20000)
    os.kill(broker.process.pid, signal.SIGCONT)
    tap.equal(end_of(conn), b"", "an end, and no reset")
    tap.equal(broker.fact()["refused"], "hello", "and the fact")
    broker.close()


def test_server_speaks_first():
    """Nothing comes down before the agent has said whom it wants."""
    for kind, opening in (("tls", hello("evil.test")), ("plain", head("evil.test"))):
        spoken = threading.Event()
        server = Server(lambda conn: (conn.sendall(b"220 welcome"), spoken.set(), conn.recv(100)), PUBLIC)
        broker = Broker(f"api.test:{server.port},{kind}")
        conn = broker.connect()
        spoken.wait(20)
        for _ in range(3):  # the broker has had its turn after each
            broker.connect().close()
            broker.fact()
        conn.sendall(opening)
        tap.equal(end_of(conn), b"", f"{kind}: what a server says unasked is held")
        fact = broker.fact()
        tap.equal((fact["refused"], fact["down"]), ("sni" if kind == "tls" else "host", 0), f"{kind}: and not counted")
        broker.close()


def test_sleeps():
    """Who has hung up is no news, however long it takes to deliver what was sent before."""
    over = threading.Event()
    server = Server(lambda conn: over.wait(2 * DRAIN_SECS))
    broker = Broker(f"127.0.0.1:{server.port},plain")
    conn = broker.connect()
    conn.settimeout(0.5)
    conn.send(head("127.0.0.1", "Content-Length: 100000000\r\n"))
    try:
        while True:
            conn.send(b"z" * 65536)
    except TimeoutError:
        conn.close()
    tap.ok(wait_until(lambda: broker.status("State") == "S"), "the broker sleeps over an end that it cannot pass on")
    over.set()
    tap.ok(broker.fact()["close"] in ("agent", "reset"), "until it can")
    broker.close()


def test_dials_at_once():
    """A channel has so many dials under way and no more; others do not wait for it."""
    hole, held = black_hole()
    server = Server(echo)
    broker = Broker(f"127.0.0.1:{hole},plain", f"127.0.0.1:{server.port},plain")
    for _ in range(65):
        broker.ask(0)
    conns = [broker.take(0) for _ in range(64)]
    for _ in range(3):
        conn = broker.connect(1)
        conn.sendall(head("127.0.0.1"))
        tap.equal(conn.recv(100), head("127.0.0.1"), "64 dials of one channel hold no other up")
        conn.close()
        broker.fact()
    waits = not select.select([broker.channels[0]], [], [], 0)[0]
    tap.ok(waits or select.select([broker.control], [], [], 0)[0], "the next one waits until one of them has ended")
    conns.pop().close()
    tap.ok(broker.take(0) is not None, "and begins then")
    broker.close()
    del held


def test_silent_server():
    """An agent that is gone is not kept for a server that says nothing."""
    over = threading.Event()
    server = Server(lambda conn: (conn.recv(1000), over.wait(DRAIN_SECS)), PUBLIC)
    broker = Broker(f"api.test:{server.port},plain")
    conn = broker.connect()
    conn.sendall(head("api.test"))
    wait_until(lambda: server.connections)
    conn.close()
    tap.ok(select.select([broker.control], [], [], 20)[0], "the connection ends with its agent")
    over.set()
    tap.equal(broker.fact()["close"], "agent", "and says so")
    broker.close()


def test_end_behind_data():
    """The agent closes while the server's bytes wait for it: the server reads an end, not a reset."""
    full, over, seen = threading.Event(), threading.Event(), []

    def fill(conn):
        conn.recv(100)
        conn.settimeout(0.2)
        try:
            while True:
                conn.send(b"z" * 65536)
        except TimeoutError:
            full.set()
        conn.settimeout(20)
        try:
            seen.append(conn.recv(1))
        except OSError as why:
            seen.append(why)
        over.set()

    broker = Broker(f"127.0.0.1:{Server(fill).port},plain")
    conn = broker.connect()
    conn.sendall(head("127.0.0.1"))
    full.wait(20)
    conn.close()
    over.wait(20)
    tap.equal(seen, [b""], "an agent that closes over unread bytes has ended for the server")
    broker.close()


def test_reset_behind_data():
    """The server fills every buffer and resets: the agent gets what was under way, and the end at once."""
    def flood(conn):
        conn.recv(100)
        conn.setblocking(False)
        try:
            while True:
                conn.send(b"z" * 65536)
        except BlockingIOError:
            pass
        time.sleep(0.2)
        conn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

    broker = Broker(f"127.0.0.1:{Server(flood).port},plain")
    conn = broker.connect()
    conn.sendall(head("127.0.0.1"))
    time.sleep(0.5)
    tap.ok(set(end_of(conn)) <= {ord("z")}, "what was under way arrives")
    tap.equal(broker.fact()["close"], "reset", "and the reset ends the connection, although the agent keeps its end")
    broker.close()


def limit_kib(mib):
    """Sanitizers multiply memory; the bound is for the program as shipped."""
    return (mib if os.environ.get("AGENT6_CONFIG", "release") == "release" else 1024) * 1024


def test_thousand():
    server = Server(echo)
    broker = Broker(f"127.0.0.1:{server.port},plain")
    before = broker.connect()
    before.sendall(head("127.0.0.1"))
    before.recv(100)
    broker.warm()
    descriptors = broker.descriptors()
    conns = []
    for _ in range(1000):
        conns.append(broker.connect())
        conns[-1].sendall(head("127.0.0.1"))  # at once: who says nothing for 10 s is closed
    tap.ok(all(conn.recv(100) == head("127.0.0.1") for conn in conns), "1,000 connections at once")
    tap.ok(broker.rss_kib() < limit_kib(16), "idle, under 16 MiB", f"{broker.rss_kib()} KiB")
    for conn in conns:
        conn.close()
    for _ in conns:
        broker.fact()
    tap.equal(broker.descriptors(), descriptors, "no descriptor is left behind")
    before.sendall(b"still here")
    tap.equal(before.recv(100), b"still here", "an old connection is not disturbed")
    for _ in range(200):
        broker.ask()
    conns = [broker.take() for _ in range(200)]
    tap.ok(all(conns), "200 requests before the first answer is taken")
    for conn in conns:
        conn.close()
    broker.close()


def test_sequence():
    server = Server(echo)
    broker = Broker(f"127.0.0.1:{server.port},plain")
    threading.Thread(target=lambda: [broker.fact() for _ in range(10001)], daemon=True).start()
    good, sent, rss = 0, head("127.0.0.1"), 0
    for i in range(10000):
        conn = broker.connect()
        conn.sendall(sent)
        good += conn.recv(100) == sent
        conn.close()
        if i == 1000:
            rss, descriptors = broker.rss_kib(), broker.descriptors()
    tap.equal(good, 10000, "10,000 connections one after the other")
    tap.ok(broker.rss_kib() < rss + limit_kib(1), "no memory is lost", f"{rss} -> {broker.rss_kib()} KiB")
    tap.ok(broker.descriptors() <= descriptors + 2, "and no descriptor")
    broker.close()


def test_made_ahead():
    """What the next connection needs is made while there is nothing else to do, and what is over is closed then."""
    broker = Broker(f"127.0.0.1:{Server(echo).port},plain")
    at_first = broker.descriptors()
    broker.warm()
    tap.equal(broker.descriptors(), at_first + 3, "a pair and a socket stand ready, and nothing else is open")
    for _ in range(5):
        broker.warm()
    tap.equal(broker.descriptors(), at_first + 3, "no more of them after more connections")
    broker.close()


def test_resets():
    """A reset at each phase, from either side, among connections that must not notice."""
    def reset(conn):
        conn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

    def at_once(conn):
        reset(conn)

    def after_head(conn):
        conn.recv(100)
        reset(conn)

    def with_data(conn):
        conn.recv(100)
        conn.sendall(b"partial")
        time.sleep(0.05)
        reset(conn)

    servers = [Server(at_once), Server(after_head), Server(with_data), Server(echo)]
    broker = Broker(*[f"127.0.0.1:{s.port},plain" for s in servers])
    good = broker.connect(3)
    good.sendall(head("127.0.0.1"))
    good.recv(100)
    for phase, want in enumerate((b"", b"", b"partial")):
        for _ in range(20):
            conn = broker.connect(phase)
            try:
                conn.sendall(head("127.0.0.1"))
            except OSError:
                pass
            got = end_of(conn)
            if got not in (want, "reset"):
                tap.equal(got, want, f"a reset in phase {phase}")
            conn.close()
            fact = broker.fact()
            early = phase == 0 and fact.get("refused") == "dial"
            if fact["close"] not in ("reset", "eof", "agent") and not early:
                tap.equal(fact["close"], "reset", f"the fact of phase {phase}")
    for phase in range(4):
        for _ in range(20):
            conn = broker.connect(3)
            if phase > 0:
                conn.sendall(head("127.0.0.1")[:phase * 15])
            conn.close()
            broker.fact()
    good.sendall(b"still here")
    tap.equal(good.recv(100), b"still here", "resets at every phase disturb nobody else")
    status, said = broker.close()
    tap.equal((status, said), (0, ""), "and the broker ends well")


# --- boundary --------------------------------------------------------------------------------------
def test_descriptors_in():
    """A descriptor sent with a request, or with data, is closed and never used."""
    server = Server(echo)
    broker = Broker(f"127.0.0.1:{server.port},plain")
    conn = broker.connect()
    conn.sendall(head("127.0.0.1"))
    conn.recv(100)
    broker.warm()
    held = broker.descriptors()
    for through, name in ((broker.channels[0], "a request"), (conn, "data")):
        read, write = os.pipe()
        socket.send_fds(through, [b"x"], [write])
        os.close(write)
        tap.equal(os.read(read, 1), b"", f"a descriptor sent with {name} is closed")
        os.close(read)
    data, fds, _, _ = socket.recv_fds(broker.channels[0], 1, 4)
    tap.equal(list(fds), [], "its request is refused: no descriptor comes back")
    tap.equal(broker.descriptors(), held, "the broker kept none")
    tap.ok(broker.connect() is not None, "an honest request is served after it")
    broker.close()


def test_descriptor_out():
    """What the agent gets is one end of a socketpair: no address, no way to anywhere else."""
    server, other = Server(echo), Server(echo)
    broker = Broker(f"127.0.0.1:{server.port},plain")
    conn = broker.connect()
    tap.equal((conn.family, conn.type), (socket.AF_UNIX, socket.SOCK_STREAM), "an AF_UNIX stream")
    raw = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, fileno=os.dup(conn.fileno()))
    refused = 0
    for address in ("/run/nowhere", "\0nowhere"):
        try:
            raw.connect(address)
        except OSError:
            refused += 1
    tap.equal(refused, 2, "it cannot be connected again")
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    inet = b"\2\0" + other.port.to_bytes(2, "big") + bytes([127, 0, 0, 1]) + bytes(8)
    for name, address in (("AF_UNSPEC", bytes(16)), ("AF_INET", inet)):
        tap.ok(libc.connect(raw.fileno(), address, len(address)) < 0, f"connect({name}) is refused")
    links = [os.readlink(f"/proc/self/fd/{fd}") for fd in (conn.fileno(),)]
    tap.ok(links[0].startswith("socket:"), "a socket")
    tap.equal(other.connections, 0, "and the canary is silent")
    broker.close()


def test_confinement():
    broker = Broker("127.0.0.1:9,plain")
    broker.connect()
    for field, want in (("NoNewPrivs", "1"), ("Seccomp", "2"), ("CapEff", "0" * 16),
                        ("CapPrm", "0" * 16), ("CapAmb", "0" * 16)):
        tap.equal(broker.status(field), want, f"{field} of the broker")
    with open(f"/proc/{broker.process.pid}/limits") as limits:
        none = [line[4:26].strip() for line in limits if line[26:].split()[:2] == ["0", "0"]]
    for limit in ("core file size", "locked memory", "msgqueue size"):
        tap.ok(limit in none, f"no {limit}", none)
    links = [os.readlink(f"/proc/{broker.process.pid}/fd/{fd}") for fd in (0, 1)]
    tap.equal(links, ["/dev/null"] * 2, "nothing to read or to write on 0 and 1, unless they are named")
    broker.close()
    with open(os.devnull) as secret:
        broker = Broker("127.0.0.1:9,plain", pass_fds=[secret.fileno()])
        broker.connect()
        links = broker.open_files()
        tap.ok("/dev/null" not in links, "what was inherited by accident is closed", links)
        broker.close()


def test_other_user():
    """A channel that another user made, or a byte another user sent, gets no connection."""
    if os.getuid() != 0 or len(open("/proc/self/uid_map").read().split()) < 3 or \
            open("/proc/self/uid_map").read().split()[2] == "1":
        tap.skip("only root can play another user here")
        return
    broker = Broker("127.0.0.1:9,plain")
    broker.connect()
    for user in (12345, 65534):  # the second is also what the kernel says where it does not know
        pid = os.fork()
        if pid == 0:
            os.setuid(user)
            broker.channels[0].send(b"x")
            os._exit(0)
        os.waitpid(pid, 0)
        tap.equal(broker.take(), None, f"a byte from user {user} is answered without a descriptor")
    broker.close()
    os.seteuid(12345)
    ours, theirs = socket.socketpair()
    os.seteuid(0)
    ours.close()
    with theirs:
        done = subprocess.run([BROKER, "--channel", f"{theirs.fileno()}=127.0.0.1:9,plain"],
                              pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    tap.ok(done.returncode == 125 and "not connected to a process of user 0" in done.stderr,
           "a channel that another user made: refused", done.returncode, done.stderr)


def test_lifetime():
    mine, other = socket.socketpair()
    program = f"""
import os, socket, subprocess, sys, time
a, b = socket.socketpair()
p = subprocess.Popen([{BROKER!r}, "--channel", f"{{b.fileno()}}=127.0.0.1:9,plain"], pass_fds=[b.fileno()])
b.close()
a.send(b"x"); socket.recv_fds(a, 1, 1)
keep = os.dup(a.fileno()); os.set_inheritable(keep, True)
holder = subprocess.Popen(["sleep", "600"], pass_fds=[keep])
print(p.pid, holder.pid, flush=True)
time.sleep(600)
"""
    for stopped in (False, True):
        agent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        broker_pid, holder_pid = map(int, agent.stdout.readline().split())
        if stopped:
            os.kill(broker_pid, signal.SIGSTOP)
            tap.ok(wait_until(lambda: state_of(broker_pid) == "T"), "a broker that is stopped")
        agent.send_signal(signal.SIGKILL)
        agent.wait()
        tap.ok(wait_until(lambda: is_gone(broker_pid)),
               f"kill -9 of the agent ends the broker{', stopped' if stopped else ''}, "
               "even if a child still holds the channel")
        os.kill(holder_pid, signal.SIGKILL)
        if not is_gone(broker_pid):
            os.kill(broker_pid, signal.SIGKILL)
        agent.stdout.close()

    server = Server(echo)
    broker = Broker(f"127.0.0.1:{server.port},plain")
    conn = broker.connect()
    conn.sendall(head("127.0.0.1"))
    conn.recv(100)
    broker.process.kill()
    tap.ok(end_of(conn) in (b"", "reset"), "kill -9 of the broker ends its connections")
    try:
        gone = broker.connect() is None
    except OSError:
        gone = True
    tap.ok(gone, "and its channels")
    broker.close()
    broker = Broker(f"127.0.0.1:{server.port},plain")
    conn = broker.connect()
    conn.sendall(head("127.0.0.1"))
    conn.recv(100)
    broker.channels[0].close()
    fact = broker.fact()
    tap.equal((fact["close"], fact["up"]), ("agent", len(head("127.0.0.1"))), "open connections end with a fact")
    tap.equal(broker.close(), (0, ""), "an agent that closes its channels ends the broker")
    broker = Broker(f"127.0.0.1:{server.port},plain")
    broker.connect()
    os.kill(broker.process.pid, signal.SIGSTOP)
    broker.ask()
    broker.channels[0].close()
    os.kill(broker.process.pid, signal.SIGCONT)
    tap.equal(broker.close(), (0, ""), "even over a request that has no answer yet")

    hole, held = black_hole()
    broker = Broker(f"127.0.0.1:{hole},plain")
    conns = [broker.connect() for _ in range(64)]
    broker.channels[0].close()
    endings = {broker.fact()["close"] for _ in conns}
    tap.equal(endings, {"agent"}, "even while as many dials as may be are under way")
    broker.close()
    broker = Broker(f"127.0.0.1:{hole},plain")
    for _ in range(2):
        for conn in [broker.connect() for _ in range(64)]:
            conn.close()
        endings = {broker.fact()["close"] for _ in range(64)}
    tap.equal(endings, {"agent"}, "dials that nobody waits for any more make room for others")
    broker.close()
    del held


def test_exhaustion():
    """With few descriptors: what cannot be served is refused, what is served goes on."""
    server = Server(echo)
    broker = Broker(f"127.0.0.1:{server.port},plain", prefix=["prlimit", "--nofile=80:80"])
    conns = [broker.connect() for _ in range(60)]
    good = []
    for conn in conns:
        try:
            conn.sendall(head("127.0.0.1"))
            if conn.recv(100) == head("127.0.0.1"):
                good.append(conn)
        except OSError:
            pass
    tap.ok(5 < len(good) < 60, f"some of 60 are served with 80 descriptors", len(good))
    for conn in good:
        conn.sendall(b"again")
    tap.ok(all(conn.recv(100) == b"again" for conn in good), "and go on")
    facts = [broker.fact() for _ in range(60 - len(good))]
    tap.ok(all(f["refused"] == "dial" for f in facts), "the others are refused")
    for conn in conns:
        conn.close()
    for _ in good:
        broker.fact()
    conn = broker.connect()
    conn.sendall(head("127.0.0.1"))
    tap.equal(conn.recv(100), head("127.0.0.1"), "there is room again when they are closed")
    broker.close()
    broker = Broker(f"127.0.0.1:{server.port},plain", prefix=["prlimit", "--nofile=40:4096"])
    conns = [broker.connect() for _ in range(30)]
    for conn in conns:
        conn.sendall(head("127.0.0.1"))
    tap.ok(all(conn.recv(100) == head("127.0.0.1") for conn in conns), "a login's soft limit is not the broker's")
    broker.close()


def test_accept_without_descriptors():
    """A client that cannot be accepted waits, and so does the broker."""
    server = Server(echo)
    broker = Broker(rules=f"localhost:{server.port}")
    first, _ = broker.through(f"localhost:{server.port}")
    soft, hard = resource.prlimit(broker.process.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(broker.process.pid, resource.RLIMIT_NOFILE, (4, hard))
    waiting = [socket.create_connection(("127.0.0.1", broker.proxy_port)) for _ in range(3)]
    slept = int(broker.status("voluntary_ctxt_switches"))
    tap.ok(wait_until(lambda: int(broker.status("voluntary_ctxt_switches")) >= slept + 3),
           "the broker sleeps, and again, while nobody can be accepted")
    resource.prlimit(broker.process.pid, resource.RLIMIT_NOFILE, (soft, hard))
    first.close()
    for conn in waiting:
        conn.settimeout(20)
        conn.sendall(f"CONNECT localhost:{server.port} HTTP/1.1\r\n\r\n".encode())
        tap.equal(conn.recv(100), b"HTTP/1.1 200 OK\r\n\r\n", "who waited is served when a descriptor is free")
        conn.close()
    broker.close()


def test_accept_alone():
    """Nothing else happens in the broker, so that it has to try again by itself."""
    server = Server(echo)
    broker = Broker(rules=f"localhost:{server.port}")
    soft, hard = resource.prlimit(broker.process.pid, resource.RLIMIT_NOFILE)
    broker.through(f"evil.test:{server.port}")[0].close()
    broker.fact()
    resource.prlimit(broker.process.pid, resource.RLIMIT_NOFILE, (4, hard))
    slept = broker.status("voluntary_ctxt_switches")
    conn = socket.create_connection(("127.0.0.1", broker.proxy_port))
    while broker.status("voluntary_ctxt_switches") == slept:  # until it has tried
        time.sleep(0.01)
    resource.prlimit(broker.process.pid, resource.RLIMIT_NOFILE, (soft, hard))
    conn.settimeout(20)
    conn.sendall(f"CONNECT localhost:{server.port} HTTP/1.1\r\n\r\n".encode())
    tap.equal(conn.recv(100), b"HTTP/1.1 200 OK\r\n\r\n", "who waited alone is served when a descriptor is free")
    conn.close()
    broker.close()


def test_proxy():
    """The operator's proxy: it is told the endpoint, and the pins still hold."""
    asked = []

    def proxy(conn):
        request = b""
        while b"\r\n\r\n" not in request and (more := conn.recv(1)):
            request += more
        asked.append(request.split(b"\r\n")[0])
        conn.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        echo(conn)

    server = Server(proxy, OTHER_PUBLIC)
    broker = Broker("hidden.test:443,tls", "hidden.test:80,plain",
                    args=["--upstream-proxy", f"http://{OTHER_PUBLIC}:{server.port}"], env={"no_proxy": "*"})
    conn = broker.connect()
    conn.sendall(hello("hidden.test"))
    tap.equal(conn.recv(1000), hello("hidden.test"), "TLS through the proxy")
    conn.close()
    tap.equal(broker.fact()["addr"], OTHER_PUBLIC, "the fact names the proxy's address")
    with open(f"/proc/{broker.process.pid}/cmdline", "rb") as line:
        tap.ok(b"http://" not in line.read(), "its URL, which may hold a password, is not on the command line")
    refusal(broker, 0, broker.connect(0), "sni", "another name through the proxy", hello("evil.test"))
    refusal(broker, 1, broker.connect(1), "host", "another host through the proxy", head("evil.test"))
    wanted = {b"CONNECT hidden.test:443 HTTP/1.1", b"CONNECT hidden.test:80 HTTP/1.1"}
    tap.ok(asked and set(asked) <= wanted | {b""}, "what the proxy was asked for", asked)
    tap.ok("hidden.test" not in NAMES.asked, "the broker did not resolve the name itself")
    broker.close()


def test_environment():
    """Nothing in its environment leads it elsewhere."""
    server, canary = Server(echo, PUBLIC), Server(echo)
    broker = Broker(f"api.test:{server.port},plain",
                    env=dict.fromkeys(("http_proxy", "all_proxy", "ALL_PROXY"), f"http://127.0.0.1:{canary.port}"))
    conn = broker.connect()
    conn.sendall(head("api.test"))
    tap.equal((conn.recv(100), canary.connections), (head("api.test"), 0), "it asks no proxy of the environment")
    conn.close()
    broker.close()


def test_proxy_refuses():
    """What the operator's proxy answers is in the fact: somebody has to mend its credentials or its rules."""
    for answer in (b"407 Proxy Authentication Required", b"502 Bad Gateway"):
        server = Server(lambda conn: (conn.recv(1000), conn.sendall(b"HTTP/1.1 " + answer + b"\r\n\r\n")), OTHER_PUBLIC)
        broker = Broker("hidden.test:443,tls", args=["--upstream-proxy", f"http://{OTHER_PUBLIC}:{server.port}"])
        fact = refusal(broker, 0, broker.connect(), "dial", f"a proxy that answers {answer[:3]}")
        tap.equal(fact.get("proxy"), int(answer[:3]), "the fact has its status")
        broker.close()
    for framing in (b"Content-Length: 99999999999\r\n\r\n", b"Transfer-Encoding: chunked\n\n1;"):
        endless = b"HTTP/1.1 407 No\r\n" + framing + b" " * (1 << 26)
        server = Server(lambda conn: (conn.recv(1000), conn.sendall(endless)), OTHER_PUBLIC)
        broker = Broker("hidden.test:443,tls", args=["--upstream-proxy", f"http://{OTHER_PUBLIC}:{server.port}"])
        refusal(broker, 0, broker.connect(), "dial", "a proxy whose refusal does not end")
        broker.close()
    for name, answers, want in (("no method", [b"\5\xff"], 12), ("not allowed", [b"\5\0", b"\5\2\0\1" + bytes(6)], 23)):
        server = Server(lambda conn: [conn.recv(300) and conn.sendall(answer) for answer in answers], OTHER_PUBLIC)
        broker = Broker("hidden.test:443,tls", args=["--upstream-proxy", f"socks5h://{OTHER_PUBLIC}:{server.port}"])
        fact = refusal(broker, 0, broker.connect(), "dial", f"a SOCKS proxy that answers: {name}")
        tap.equal(fact.get("proxy"), want, "the fact has libcurl's number of it")
        broker.close()


def test_socks_proxy():
    """The same through SOCKS5, which is told the name and not an address."""
    asked = []

    def proxy(conn):
        conn.recv(2 + conn.recv(2, socket.MSG_PEEK)[1])
        conn.sendall(b"\5\0")
        asked.append(conn.recv(300)[4:])
        conn.sendall(b"\5\0\0\1" + bytes(6))
        echo(conn)

    server = Server(proxy, "10.1.2.3")
    broker = Broker("hidden.test:443,tls", args=["--upstream-proxy", f"socks5h://10.1.2.3:{server.port}"])
    conn = broker.connect()
    conn.sendall(hello("hidden.test"))
    tap.equal(conn.recv(1000), hello("hidden.test"), "TLS through a SOCKS proxy, whose address may be private")
    tap.equal(asked, [b"\x0bhidden.test\1\xbb"], "it was told the name")
    conn.close()
    broker.close()


def test_channel_on_stdin():
    """Any descriptor number will do, 0 included."""
    server = Server(echo)
    mine, other = socket.socketpair()
    process = subprocess.Popen([BROKER, f"--channel=0=127.0.0.1:{server.port},plain"], stdin=other, env={})
    other.close()
    mine.send(b"?")
    conn = socket.socket(fileno=socket.recv_fds(mine, 1, 1)[1][0])
    conn.sendall(head("127.0.0.1"))
    tap.equal(conn.recv(100), head("127.0.0.1"), "a channel on descriptor 0")
    conn.close()
    mine.close()
    tap.equal(process.wait(10), 0, "and its end")


HINT = b"; see allow_network"
OPENED = {"connect": b"HTTP/1.1 200 OK", "socks": b"\5\0"}
CLOSED = {"connect": b"HTTP/1.1 403 agent6 refused: %s" + HINT, "socks": b"\5\2"}
DEAD = {"connect": b"HTTP/1.1 502 agent6 refused: dial" + HINT, "socks": b"\5\4"}


def test_list():
    """The list form: a listener from elsewhere, CONNECT and SOCKS5, these hosts and no others."""
    server, canary = servers(echo, PUBLIC, "127.0.0.1")
    port = server.port
    NAMES.table.update({"a.wild.test": [PUBLIC], "b.a.wild.test": [PUBLIC], "wild.test": [PUBLIC],
                        "in.wild.test": ["127.0.0.1"]})
    broker = Broker(rules=f"api.test:{port},*.wild.test:{port},localhost:{port},dark.test:{port}")
    for kind in ("connect", "socks"):
        for target in ("api.test", "API.test", "a.wild.test", "b.a.wild.test"):
            conn, answer = broker.through(f"{target}:{port}", kind, b"early")
            tap.equal(answer, OPENED[kind], f"{kind} {target} is let through")
            tap.equal(conn.recv(100), b"early", f"{kind} {target}: what was sent ahead arrives")
            conn.sendall(b"ping")
            tap.equal(conn.recv(100), b"ping", f"{kind} {target}: and what follows")
            conn.close()
            fact = broker.fact()
            tap.equal((fact["endpoint"], fact["up"]), (f"{target.lower()}:{port}", 9), f"{kind} {target}: the fact")
        unlisted = [(name, port) for name in (
            "evil.test", "wild.test", "notwild.test", "api.test.", "127.0.0.1", PUBLIC, ".wild.test", "*.wild.test")]
        refused = [(*which, "host not listed") for which in [*unlisted, ("api.test", port + 1)]] + [
            ("in.wild.test", port, "address"), ("dark.test", port, "dial"),
            ("x y\x01", port, "host not listed" if kind == "socks" else "host")]
        for host, at, why in refused:
            conn, answer = broker.through(f"{host}:{at}", kind)
            if kind == "socks" or " " not in host:
                want = DEAD[kind] if why == "dial" else CLOSED[kind].replace(b"%s", why.encode())
                tap.equal(answer, want, f"{kind} {host!r}:{at - port} is refused, and the client told why")
            conn.close()
            tap.equal(broker.fact()["refused"], why, f"{kind} {host!r}: the fact")
    tap.equal(canary.connections, 0, "the canary is silent")
    conn, answer = broker.through(f"localhost:{port}")
    tap.equal(answer, OPENED["connect"], "localhost, when it is listed")
    conn.close()
    broker.fact()
    conn, _ = broker.through(f"api.test:{port}", first=hello("api.test"))
    tap.equal(conn.recv(1000), hello("api.test"), "TLS with the host's name")
    conn.close()
    broker.fact()
    conn, _ = broker.through(f"api.test:{port}", first=hello("evil.test"))
    tap.equal(end_of(conn), b"", "TLS with another name is closed")
    tap.equal(broker.fact()["refused"], "sni", "and said")
    plain = b" HTTP/1.1\r\nHost: api.test\r\n\r\n"
    refused, unlisted = CLOSED["connect"] % b"host", CLOSED["connect"] % b"host not listed"
    for name, sent, wanted, answer in (
            ("a plain request for another port", b"GET http://api.test/x" + plain, "api.test:80", unlisted),
            ("one with a port and a secret", b"PUT http://API.test:81/?key=1" + plain, "API.test:81", unlisted),
            ("one with a password", b"GET http://me:word@api.test:%d/" % port + plain, f"api.test:{port}", refused),
            ("one for https", b"GET https://api.test:%d/" % port + plain, f"api.test:{port}", refused),
            ("one for no URL", b"GET /" + plain, "", refused),
            ("TLS to the proxy", hello("api.test"), "", refused),
            ("SOCKS4", b"\4\1\0\x50\1\2\3\4\0", "", refused),
            ("SOCKS5 BIND", b"\5\1\0\5\2\0\1\1\2\3\4\0\x50", "", b"\5\0\5\2"),
            ("SOCKS5 with a password", b"\5\1\2", "", b"\5\xff"),
            ("an endless head", b"CONNECT " + b"a" * 9000, "", refused)):
        conn = socket.create_connection(("127.0.0.1", broker.proxy_port))
        conn.settimeout(20)
        conn.sendall(sent)
        got = end_of(conn)
        tap.equal(got[:len(answer)], answer, f"{name} is refused")
        fact = broker.fact()
        why = "host not listed" if answer == unlisted else "host"
        tap.equal((fact["refused"], fact["endpoint"]), (why, wanted), f"{name}: the fact")
        conn.close()
    for cut in range(1, 20, 3):
        conn = socket.create_connection(("127.0.0.1", broker.proxy_port))
        conn.sendall(f"CONNECT api.test:{port} HTTP/1.1\r\n".encode()[:cut])
        conn.close()
        broker.fact()
    conn, answer = broker.through(f"api.test:{port}")
    tap.equal(answer, OPENED["connect"], "clients that leave early disturb nobody")
    data, got = b"no TLS" + random.randbytes(4 << 20), bytearray()
    reader = threading.Thread(target=lambda: got.extend(end_of(conn)))
    reader.start()
    conn.sendall(data)
    conn.shutdown(socket.SHUT_WR)
    reader.join(20)
    tap.ok(bytes(got) == data, "4 MiB there and back through the proxy")
    tap.equal(broker.close(), (0, ""), "it ends with the other end of its descriptor")


def plainly(broker, request):
    """One request through the proxy, whole; what comes back until the end."""
    conn = socket.create_connection(("127.0.0.1", broker.proxy_port))
    conn.settimeout(20)
    conn.sendall(request)
    got = end_of(conn)
    conn.close()
    return got


def test_forward():
    """A request for an http:// URL: its host is listed and pinned, the server sees its path alone."""
    seen = []

    def answer(conn):
        data = b""
        while b"\r\n\r\n" not in data:
            data += conn.recv(65536)
        head, _, body = data.partition(b"\r\n\r\n")
        length = next((int(l.split(b":")[1]) for l in head.split(b"\r\n") if l.lower().startswith(b"content-length:")), 0)
        while len(body) < length:
            body += conn.recv(65536)
        seen.append((head, body))
        conn.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello")

    server = Server(answer, PUBLIC)
    port, at = server.port, f"api.test:{server.port}"
    broker = Broker(rules=f"{at},in.test:{port}")
    NAMES.table["in.test"] = ["127.0.0.1"]
    head = f"GET http://{at}/a?b HTTP/1.1\r\nHost: {at}\r\nProxy-Connection: Keep-Alive\r\n\r\n".encode()
    tap.ok(plainly(broker, head).endswith(b"hello"), "a listed host answers")
    tap.equal(seen.pop(), (f"GET /a?b HTTP/1.1\r\nHost: {at}\r\nConnection: close".encode(), b""), "to its path")
    fact = broker.fact()
    tap.ok((fact["endpoint"], fact.get("refused")) == (at, None) and fact["up"] > 40, "the fact", fact)
    body = random.randbytes(300000)
    post = f"POST http://{at}/ HTTP/1.1\r\nHost: {at}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
    tap.ok(plainly(broker, post).endswith(b"hello") and seen.pop()[1] == body, "with a body that fills blocks")
    broker.fact()
    for name, bad in (("another Host", head.replace(f"Host: {at}".encode(), b"Host: evil.test")),
                      ("no Host", head.replace(b"Host:", b"Hosts:")),
                      ("two of them", head.replace(b"\r\n\r\n", b"\r\nHost: evil.test\r\n\r\n")),
                      ("a folded field", head.replace(b"Keep-Alive\r\n", b"Keep-Alive\r\n Host: evil.test\r\n")),
                      ("chunks", head.replace(b"\r\n\r\n", b"\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")),
                      ("a bare line feed", head.replace(b"\r\nProxy", b"\nProxy"))):
        plainly(broker, bad)
        tap.equal((broker.fact()["refused"], seen), ("host", []), f"{name} is refused before the server sees it")
    second = head + f"GET http://evil.test:{port}/ HTTP/1.1\r\nHost: evil.test:{port}\r\n\r\n".encode()
    plainly(broker, second)
    tap.ok(b"evil" not in b"".join(head + body for head, body in seen), "a second request goes nowhere else", seen)
    tap.equal(broker.fact()["refused"], "host", "and is said")
    got = plainly(broker, head.replace(at.encode(), f"in.test:{port}".encode()))
    tap.ok(got.startswith(b"HTTP/1.1 403 agent6 refused: address"), "one that leads to this host is refused", got)
    tap.equal(broker.fact()["refused"], "address", "and said")
    tap.equal(broker.close(), (0, ""), "it ends with the other end of its descriptor")


def test_private_hosts():
    """Names the operator lets resolve to private addresses, and nothing beside them."""
    near, here, meta, public = servers(echo, "10.1.2.3", "127.0.0.1", "169.254.169.254", PUBLIC)
    port = near.port
    NAMES.table.update({"git.corp.test": ["10.1.2.3"], "npm.corp.test": ["127.0.0.1"], "out.corp.test": [PUBLIC],
                        "meta.corp.test": ["169.254.169.254"], "both.corp.test": ["169.254.169.254", "10.1.2.3"],
                        "other.test": ["10.1.2.3"], "sub.git.one.test": ["10.1.2.3"], "git.one.test": ["10.1.2.3"],
                        "turns.test": lambda count: [PUBLIC] if count <= 2 else ["10.1.2.3"]})
    broker = Broker(rules=f"*.corp.test:{port},other.test:{port},*.one.test:{port},turns.test:{port},localhost:{port}",
                    args=["--private", "*.corp.test,git.one.test,unlisted.test"])
    for name in ("git.corp.test", "npm.corp.test", "out.corp.test", "both.corp.test", "git.one.test"):
        conn, answer = broker.through(f"{name}:{port}", first=b"ping")
        tap.equal((answer, conn.recv(4)), (OPENED["connect"], b"ping"), f"{name} may be reached")
        conn.close()
        broker.fact()
    reached = [server.connections for server in (near, here, public)]
    tap.equal(reached, [3, 1, 1], "where each of them leads")
    for name, why in (("meta.corp.test", "address"), ("other.test", "address"), ("sub.git.one.test", "address"),
                      ("unlisted.test", "host not listed"), ("10.1.2.3", "host not listed"),
                      ("127.0.0.1", "host not listed")):
        conn, answer = broker.through(f"{name}:{port}")
        tap.equal(answer, CLOSED["connect"] % why.encode(), f"{name} is not: {why}")
        conn.close()
        broker.fact()
    for _ in range(4):
        conn, answer = broker.through(f"turns.test:{port}")
        conn.close()
        broker.fact()
    tap.equal([near.connections, here.connections, meta.connections], [3, 1, 0],
              "a name that turns to a private address is not followed there")
    conn, answer = broker.through(f"localhost:{port}")
    tap.equal(answer, OPENED["connect"], "localhost is, since it is listed")
    conn.close()
    tap.equal(broker.close(), (0, ""), "it ends with the other end of its descriptor")


def test_list_receives_once():
    """Nothing but one listening TCP socket is taken from the launcher's side."""
    broker = Broker(rules="api.test:80")
    broker.through("evil.test:80")[0].close()
    broker.fact()
    held = broker.descriptors()
    for number in range(3):
        read, write = os.pipe()
        another = socket.create_server(("127.0.0.1", 0))
        socket.send_fds(broker.life, [b"L"], [[write], [write, write], [another.fileno()]][number])
        os.close(write)
        tap.equal(os.read(read, 1), b"", "a descriptor that is no first listener is closed")
        os.close(read)
        another.close()
    broker.through("evil.test:80")[0].close()
    broker.fact()
    tap.equal(broker.descriptors(), held, "none was kept")
    broker.close()


def test_list_waits_for_a_listener():
    """What comes before it and is none is closed, and does not stand in its way."""
    connected, far = socket.socketpair()
    unix = socket.socket(socket.AF_UNIX)
    unix.bind("\0broker-live")
    unix.listen()
    idle, listening = socket.socket(), socket.create_server(("127.0.0.1", 0))
    pair = [listening, listening]
    server = Server(echo, PUBLIC)
    for name, first in (("a pipe", os.pipe()), ("a socket of a pair", [connected]), ("a listener without TCP", [unix]),
                        ("a TCP socket that does not listen", [idle]), ("two listeners at once", pair)):
        fds = [fd if isinstance(fd, int) else fd.fileno() for fd in first][-2:]
        broker = Broker(rules=f"api.test:{server.port}", first=fds)
        conn, answer = broker.through(f"api.test:{server.port}")
        tap.equal(answer, OPENED["connect"], f"{name} is not taken for the listener, which comes later")
        conn.close()
        broker.close()
    for end in (connected, far, unix, idle, listening):
        end.close()


def test_answers_wait():
    """Who does not take its descriptors gets them all later, the last one too."""
    server = Server(echo)
    broker = Broker(f"127.0.0.1:{server.port},plain")
    channel, asked = broker.channels[0], 0

    def waiting():
        return struct.unpack("i", fcntl.ioctl(channel, termios.FIONREAD, b"1234"))[0]

    while waiting() == asked and asked < 2000:
        broker.ask()
        asked += 1
        for _ in range(50):
            if waiting() == asked:
                break
            time.sleep(0.01)
    taken = [broker.take() for _ in range(asked)]
    tap.ok(asked < 2000 and all(taken), f"{asked} requests, one more than there is room for: as many descriptors")
    for conn in taken:
        conn.close()
    broker.close()


def test_one_of_two():
    """What ends one channel ends no other, though another process holds the same socket."""
    server = Server(echo, PUBLIC)
    at = f"api.test:{server.port}"
    broker = Broker(f"{at},plain", f"{at},plain", f"{at},plain", rules=at, held=True)
    for number in (0, 1):
        broker.channels[number].close()
    conn = broker.connect(2)
    conn.sendall(head("api.test"))
    tap.equal(conn.recv(100), head("api.test"), "the third channel serves")
    conn.close()
    conn, answered = broker.through(at)
    tap.equal(answered, OPENED["connect"], "and so does the proxy")
    conn.close()
    broker.life.close()
    conn = broker.connect(2)
    conn.sendall(head("api.test"))
    tap.equal(conn.recv(100), head("api.test"), "one behind the proxy's end, too")
    tap.ok(wait_until(lambda: socket.socket().connect_ex(("127.0.0.1", broker.proxy_port))), "which listens no more")
    broker.close()


def test_control_full():
    """Facts that cannot be written end it, whatever they are written to."""
    mine, other = socket.socketpair()
    with open("/dev/full", "w") as full:
        process = subprocess.Popen([BROKER, f"--channel={other.fileno()}=127.0.0.1:1,plain",
                                    f"--control={full.fileno()}"], pass_fds=(other.fileno(), full.fileno()),
                                   env=ENVIRONMENT, stderr=subprocess.PIPE)
    other.close()
    mine.send(b"?")
    tap.equal(process.wait(20), 1, "a full disk ends the broker")
    tap.ok(b"--control" in process.stderr.read(), "and it says why")
    process.stderr.close()
    mine.close()


def test_control():
    """A reader that sleeps stalls nothing; one that is gone ends the broker."""
    server = Server(echo)
    broker = Broker(f"127.0.0.1:{server.port},plain")
    for _ in range(1500):
        conn = broker.connect()
        conn.sendall(head("127.0.0.1"))
        conn.recv(100)
        conn.close()
    tap.equal(sum(1 for _ in range(1500) if broker.fact()["up"] > 0), 1500, "1,500 facts wait for a sleeping reader")
    broker.control.close()
    tap.equal(broker.process.wait(10), 1, "without a reader the broker ends")
    tap.ok(b"--control" in broker.process.stderr.read(), "and says why")
    broker.process.stderr.close()


def test_usage():
    for args, status, want in (([], 2, "--channel"), (["--channel", "77=a.test:443,tls"], 125, "77"),
                               (["--channel", "0=a.test,tls"], 2, "HOST:PORT"), (["--frobnicate"], 2, "--frobnicate")):
        done = subprocess.run([BROKER, *args], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        tap.ok(done.returncode == status and want in done.stderr, f"broker {' '.join(args)}: refused",
               done.returncode, done.stderr)
    with open(os.devnull) as null:
        done = subprocess.run([BROKER, "--channel", "0=a.test:443,tls"], stdin=null, capture_output=True, text=True)
    tap.ok(done.returncode == 125 and "AF_UNIX" in done.stderr, "a channel that is no socket: refused", done.stderr)
    mine, other = socket.socketpair()
    done = subprocess.run([BROKER, "--channel", "0=a.test:443,tls", "--control", "3"], stdin=other, timeout=20,
                          capture_output=True, text=True)
    tap.ok(done.returncode == 125 and "3 is not open" in done.stderr,
           "facts for a descriptor that is not there, and would be the next to be opened: refused", done.stderr)
    server = socket.create_server(("127.0.0.1", 0))
    for ends in (socket.socketpair(type=socket.SOCK_DGRAM), socket.socketpair(type=socket.SOCK_SEQPACKET),
                 (socket.create_connection(server.getsockname()), server)):
        done = subprocess.run([BROKER, "--channel", "0=a.test:443,tls"], stdin=ends[0], timeout=20,
                              capture_output=True, text=True)
        tap.ok(done.returncode == 125 and "not an AF_UNIX stream" in done.stderr,
               f"a channel that is a socket of {ends[0].family.name} and {ends[0].type.name}: refused", done.stderr)
        for end in ends:
            end.close()
    mine.close()
    other.close()


if __name__ == "__main__":
    tap.run([test_usage, test_sni, test_split_hello, test_tls, test_host, test_addresses, test_rebinding,
             test_dial, test_stuck_resolver, test_budget, test_budget_is_shared, test_eyeballs, test_keepalive, test_half_close,
             test_back_pressure, test_bulk, test_out_of_memory, test_agent_ends_early, test_refused_with_bytes_unread, test_server_speaks_first, test_sleeps, test_dials_at_once, test_silent_server, test_end_behind_data, test_reset_behind_data, test_thousand, test_sequence, test_made_ahead, test_resets, test_descriptors_in,
             test_descriptor_out, test_confinement, test_other_user, test_lifetime, test_exhaustion, test_accept_without_descriptors, test_accept_alone,
             test_environment, test_proxy, test_proxy_refuses, test_socks_proxy, test_channel_on_stdin, test_list, test_forward, test_private_hosts, test_list_receives_once, test_list_waits_for_a_listener, test_answers_wait, test_one_of_two, test_control_full, test_control, test_time_limits])
    tap.done()
