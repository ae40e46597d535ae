"""The list form of allow_network, whole: agent6, a strict jail, the broker's proxy, real clients."""
import http.server
import io
import json
import os
import socket
import ssl
import subprocess
import sys
import threading
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "broker"))
from kit import SCRATCH, Names, Server, certificate, echo, tap

PUBLIC, OTHER = "93.184.216.34", "93.184.216.35"
BIN = os.environ.get("AGENT6_BIN", "build/bin")
HOME = os.path.join(SCRATCH, f"egress-{os.getpid()}")
NAMES = Names({name: [PUBLIC] for name in (
    "api.allowed.test", "git.allowed.test", "npm.allowed.test", "pypi.allowed.test", "evil.test")}
    | {"rebound.allowed.test": ["127.0.0.1"], "meta.allowed.test": ["169.254.169.254"],
       "registry.corp.test": ["127.0.0.1"], "metadata.corp.test": ["169.254.169.254"], "other.corp.test": ["127.0.0.1"]})

# One line per attempt, `NAME exit-status`; each must come out as the second column says.
PROBE = """#!/bin/bash
export CURL_CA_BUNDLE=$PWD/ca.pem SSL_CERT_FILE=$PWD/ca.pem GIT_SSL_CAINFO=$PWD/ca.pem
at=%(port)d
try() { local name=$1; shift; timeout 10 "$@" >"out.$name" 2>"err.$name" </dev/null; echo "$name $?"; }
get="curl --silent --fail --max-time 8"
try connect $get https://api.allowed.test:$at/hello
try socks $get --proxy "socks5h://${ALL_PROXY#*//}" https://api.allowed.test:$at/hello
try git git ls-remote https://git.allowed.test:$at/repo.git
command -v npm >/dev/null && try npm npm view probe version --cache "$HOME/npm" \\
	--registry https://npm.allowed.test:$at/ --cafile "$PWD/ca.pem" --no-update-notifier --fetch-retries 0
command -v pip3 >/dev/null && try pip pip3 download --no-deps --no-cache-dir --disable-pip-version-check \\
	--index-url https://pypi.allowed.test:$at/simple --cert "$PWD/ca.pem" --dest "$HOME/pip" probe
# Listed names of this host and of its networks: in plain text, without any setting of the client.
try own_connect $get http://localhost:%(own)d/hello
try own_socks $get --proxy "socks5h://${ALL_PROXY#*//}" http://localhost:%(own)d/hello
try near_connect $get http://registry.corp.test:%(own)d/hello
command -v npm >/dev/null && try own_npm npm view probe version --cache "$HOME/npm2" \
	--registry http://localhost:%(own)d/ --no-update-notifier --fetch-retries 0
command -v pip3 >/dev/null && try own_pip pip3 download --no-deps --no-cache-dir --disable-pip-version-check \
	--index-url http://localhost:%(own)d/simple --dest "$HOME/pip2" probe
command -v npm >/dev/null && try near_npm npm view probe version --cache "$HOME/npm3" \
	--registry http://registry.corp.test:%(own)d/ --no-update-notifier --fetch-retries 0
try own_git git ls-remote http://localhost:%(own)d/repo.git
/usr/bin/python3 -m http.server 8099 --bind 127.0.0.1 >/dev/null 2>&1 &
for i in {1..100}; do (: </dev/tcp/127.0.0.1/8099) 2>/dev/null && break; sleep 0.1; done
try in_the_jail $get http://127.0.0.1:8099/
kill $!
try own_other_port $get http://localhost:$((at + 1))/hello
try near_unlisted $get http://other.corp.test:%(own)d/hello
try near_metadata $get http://metadata.corp.test:%(own)d/hello
try near_address $get http://127.0.0.2:%(own)d/hello --noproxy ''
try for_all env -u HTTPS_PROXY -u https_proxy $get https://api.allowed.test:$at/hello
/usr/bin/python3 -c 'import httpx' 2>/dev/null && try httpx /usr/bin/python3 -c "import httpx
httpx.get('https://api.allowed.test:$at/hello', verify='ca.pem').raise_for_status()"
try other_host $get https://evil.test:$at/hello
try other_port $get https://api.allowed.test:$((at + 1))/hello
try suffix_itself $get https://allowed.test:$at/hello
try address $get -k https://%(public)s:$at/hello
try loopback $get -k https://127.0.0.1:$at/hello --noproxy ''
try rebound $get -k https://rebound.allowed.test:$at/hello
try metadata $get -k https://meta.allowed.test:$at/hello
try other_name $get -k --connect-to evil.test:$at:api.allowed.test:$at https://evil.test:$at/hello
try direct $get -k --noproxy '*' https://%(public)s:$at/hello
try direct_host $get -k --noproxy '*' https://127.0.0.1:$at/hello
try udp bash -c 'echo x >/dev/udp/127.0.0.1/%(udp)d && cat </dev/null && grep -q nothing /dev/null'
try tcp bash -c ': </dev/tcp/%(public)s/'$at
try lookup getent ahosts api.allowed.test
try listener bash -c 'exec 3<>/dev/tcp/127.0.0.1/'"${HTTPS_PROXY##*:}"'; printf "GET http://evil.test/ HTTP/1.1\\r\\n\\r\\n" >&3; read -r line <&3; [[ $line == *200* ]]'
env | grep -i _proxy | sort
"""
PASS = ["connect", "socks", "git", "npm", "pip", "for_all", "httpx", "own_connect", "own_socks", "near_connect", "own_npm",
        "own_pip", "near_npm", "own_git", "in_the_jail"]
FAIL = ["other_host", "other_port", "suffix_itself", "address", "loopback", "rebound", "metadata",
        "own_other_port", "near_unlisted", "near_metadata", "near_address", "other_name", "direct", "direct_host", "tcp", "lookup", "listener"]


def wheel():
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        file.writestr("probe.py", "")
        info = "probe-1.0.dist-info"
        file.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: probe\nVersion: 1.0\n")
        file.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{info}/RECORD", "")
    return data.getvalue()


class Site(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def make_site(root):
    os.makedirs(f"{root}/simple/probe")
    with open(f"{root}/hello", "w") as file:
        file.write("hello\n")
    with open(f"{root}/simple/probe/index.html", "w") as file:
        file.write('<a href="/probe-1.0-py3-none-any.whl">probe-1.0-py3-none-any.whl</a>')
    with open(f"{root}/probe-1.0-py3-none-any.whl", "wb") as file:
        file.write(wheel())
    with open(f"{root}/probe", "w") as file:
        json.dump({"name": "probe", "dist-tags": {"latest": "1.0.0"}, "versions": {
            "1.0.0": {"name": "probe", "version": "1.0.0", "dist": {"tarball": "https://x.test/x.tgz"}}}}, file)
    quiet = {"check": True, "capture_output": True}
    work = f"{HOME}/seed"
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@t.test"]
    subprocess.run([*git, "init", "-q", work], **quiet)
    subprocess.run([*git, "-C", work, "commit", "-q", "--allow-empty", "-m", "seed"], **quiet)
    subprocess.run([*git, "clone", "-q", "--bare", work, f"{root}/repo.git"], **quiet)
    subprocess.run([*git, "-C", f"{root}/repo.git", "update-server-info"], **quiet)


def serve_site(root, chain, key):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain, key)
    server = http.server.ThreadingHTTPServer(
        (PUBLIC, 0), lambda *a: Site(*a, directory=root), bind_and_activate=True)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def serve_own(root):
    """What only this host reaches, in plain text."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *a: Site(*a, directory=root))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def run(port, network, listed):
    """The machine run with one tool state; (exit status, journal lines, its standard error)."""
    bundle, ws = f"{HOME}/bundle", f"{HOME}/ws"
    os.makedirs(f"{HOME}/config/agent6", exist_ok=True)
    os.makedirs(f"{bundle}/scripts", exist_ok=True)
    with open(f"{HOME}/config/agent6/config.yaml", "w") as file:
        file.write(f"sandbox: {{tool_network: {network}, private_hosts: [registry.corp.test, metadata.corp.test]}}\n")
    with open(f"{bundle}/machine.yaml", "w") as file:
        file.write(f"""machine: listed
version: 1
initial: probe
budget: {{max_transitions: 3}}
states:
  probe:
    kind: tool
    command: [scripts/probe.sh]
    allow_network: {json.dumps(listed)}
    timeout_secs: 240
    on: {{ok: done, nonzero: done, timeout: done}}
  done: {{kind: terminal, status: ok, reason: done}}
""")
    with open(f"{bundle}/scripts/probe.sh", "w") as file:
        file.write(PROBE % {"port": port, "own": OWN, "public": PUBLIC, "udp": UDP.getsockname()[1]})
    os.chmod(f"{bundle}/scripts/probe.sh", 0o755)
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": HOME, "AGENT6_ALLOW_ROOT": "1",
           "XDG_CONFIG_HOME": f"{HOME}/config", "AGENT6_STATE_HOME": f"{HOME}/state-{network}", "LANG": "C.UTF-8"}
    done = subprocess.run([f"{BIN}/agent6", "machine", "run", "--json", bundle], cwd=ws, env=env,
                          capture_output=True, text=True, timeout=300)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return done.returncode, lines, done.stderr


UDP = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
UDP.bind(("127.0.0.1", 0))
UDP.settimeout(0.2)


def test_list():
    canaries = [Server(echo, address, PORT) for address in ("127.0.0.1", "169.254.169.254", OTHER)]
    listed = [f"*.allowed.test:{PORT}", f"localhost:{OWN}", f"*.corp.test:{OWN}"]
    status, lines, said = run(PORT, "only_explicit_states", listed)
    tap.equal(status, 0, "a machine with a list runs")
    steps = [line for line in lines if line.get("state") == "probe" and "fact" in line]
    out = steps[0]["fact"].get("stdout", "") if steps else said
    results = dict(line.split(" ", 1) for line in out.splitlines() if " " in line)
    ws = f"{HOME}/ws"
    for name in PASS:
        if name in results:
            detail = open(f"{ws}/err.{name}", errors="replace").read()[-500:]
            tap.ok(results[name] == "0", f"{name} gets through", results[name], detail)
    tap.ok(all(name in results for name in ("connect", "socks", "git")), "curl and git were tried", out, said)
    tap.ok("NO_PROXY=127.0.0.1,::1" in out, "what is listed of this host is no longer asked for directly", out)
    for name in FAIL:
        tap.ok(results.get(name, "0") != "0", f"{name} does not", results.get(name), said)
    tap.equal([c.connections for c in canaries], [0, 0, 0], "the canaries are silent")
    try:
        tap.ok(not UDP.recv(10), "the UDP canary is silent")
    except socket.timeout:
        tap.ok(True, "the UDP canary is silent")
    tap.ok("HTTPS_PROXY=http://127.0.0.1:" in out and "NODE_USE_ENV_PROXY=1" in out, "the clients are told", out)
    egress = {line["endpoint"]: line for line in lines if line.get("t") == "egress"}
    api = egress.get(f"api.allowed.test:{PORT}", {})
    tap.ok(api.get("connections", 0) >= 2 and api.get("up", 0) > 0, "what passed is journaled", egress)
    for endpoint, why in (("evil.test", "host not listed"), ("rebound.allowed.test", "address"), ("meta.allowed.test", "address")):
        refusals = egress.get(f"{endpoint}:{PORT}", {}).get("refusals", {})
        tap.ok(why in refusals, f"{endpoint}: the refusal is journaled", egress)
    tap.ok(api.get("refusals", {}).get("sni", 0) >= 1, "TLS with another name is journaled", api)
    with open(f"{HOME}/state-only_explicit_states/audit.jsonl") as file:
        trail = [json.loads(line) for line in file]
    refused = {line["endpoint"] for line in trail if line["t"] == "egress_refused"}
    tap.ok(f"evil.test:{PORT}" in refused, "the refusal is in the audit trail", trail)
    left = subprocess.run(["pgrep", "-f", "agent6-broker --proxy"], capture_output=True, text=True).stdout
    own = [pid for pid in left.split() if os.readlink(f"/proc/{pid}/ns/net") == os.readlink("/proc/self/ns/net")]
    tap.equal(own, [], "no broker is left behind")


def test_blocked():
    status, _, said = run(PORT, "block", [f"*.allowed.test:{PORT}"])
    tap.ok(status == 2 and "tool_network" in said, "a list under tool_network block is refused at start", status, said)


if __name__ == "__main__":
    os.makedirs(f"{HOME}/ws")
    key, chain = certificate("DNS:*.allowed.test,DNS:evil.test")
    make_site(f"{HOME}/site")
    with open(chain) as source, open(f"{HOME}/ws/ca.pem", "w") as copy:
        copy.write(source.read())
    OWN = serve_own(f"{HOME}/site")
    PORT = serve_site(f"{HOME}/site", chain, key)
    tap.run([test_list, test_blocked])
    subprocess.run(["chmod", "-R", "u+w", HOME])
    subprocess.run(["rm", "-rf", HOME, key, chain])
    tap.done()
