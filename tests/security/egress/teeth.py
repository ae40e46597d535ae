"""Whether the attempts can succeed: layers of the confinement are left out, and they have to.

Of a command, the layers that attempts.h names for the attempt, and not one less. Of the agent, all of
its own together. With every layer there, nothing gets through. Only root can tell (`make teeth`).
"""
import json
import os
import shutil
import socket
import subprocess

import matrix
from matrix import Row, Start, Who, put_sockets, tap, targets, write

TEETH = f"{matrix.OUT}/teeth"
AGENT = "agent_network,agent_landlock,agent_privileges,agent_seccomp"
DONE = {}


def by_command(profile, layers):
    """What a command gets through without `layers`: a frozen set of them, or what the jail said."""
    if (profile, layers) in DONE:
        return DONE[profile, layers]
    work = f"{matrix.HOME}/command-{len(DONE)}"
    os.makedirs(work)
    shutil.copy(f"{matrix.HOME}/bin/attempt", work)
    write(f"{work}/targets", targets(f"command-{len(DONE)}", WHO.holder.pid))
    put_sockets(work)
    jail = next((layer for layer in layers if layer.startswith("without-")), "agent6-jail")
    policy = {"version": 1, "profile": profile, "argv": [f"{work}/attempt", "command"], "cwd": work, "network": "none",
              "workspace": {"path": work, "access": "write"}, "timeout_secs": 100, "allow_root_jail": True}
    with socket.create_connection(("127.0.0.1", matrix.PORT)) as leak:
        leak.sendall(b"- - -\n")
        done = subprocess.run([f"{TEETH}/{jail}"], input=json.dumps(policy), env={"JAIL_LEAVE_OUT": ",".join(layers)},
                              cwd=work, pass_fds=[leak.fileno()], text=True, capture_output=True)
    answers = dict(line.split() for line in done.stdout.splitlines())
    DONE[profile, layers] = {a for a, number in answers.items() if number == "0"} if answers else done.stderr
    return DONE[profile, layers]


def test_command():
    for profile in ("strict", "hardened"):
        tap.equal(by_command(profile, frozenset()), set(), f"{profile}: with every layer nothing gets through")
    for attempt, (_, profile, layers, _) in ROWS.items():
        named = frozenset(layers.split(","))
        if attempt not in WHO.worked[0]:
            tap.skip(f"{attempt}: " + ("the broker alone holds it" if layers == "broker" else "fails outside, too"))
            continue
        got = by_command(profile, named)
        tap.ok(attempt in got, f"{attempt}: {profile} lets it through without {layers}", got)
        for layer in named if len(named) > 1 else ():
            fewer = by_command(profile, named - {layer})
            tap.ok(attempt not in fewer, f"{attempt}: {profile}, and {layer} alone would hold it", fewer)


def by_agent(profile, layers):
    write(f"{matrix.HOME}/bin/targets", f"{targets('', 0)}JAIL_LEAVE_OUT={layers}\n")
    start = Start(WHO, f"root-{profile}-{len(layers)}", Row(profile, "providers", "block", "auto"), [("tool", "auto")]).run()
    return {a for a, number in start.answers("agent").items() if number == 0 and a in ROWS} or start.said


def test_agent():
    shutil.copy(f"{TEETH}/agent", f"{matrix.HOME}/bin/agent6-agent")
    for profile in ("strict", "hardened"):
        # The supervisor leaves it nothing to inherit, whatever it does itself.
        tap.equal(by_agent(profile, AGENT), WHO.worked[0] - {"inherited"}, f"the agent of {profile}: all, without its layers")


if __name__ == "__main__":
    matrix.set_stage()
    ROWS = {line.split()[0]: line.split(maxsplit=4)[1:] for line in
            subprocess.check_output([f"{matrix.HOME}/bin/attempt", "--kinds"], text=True).splitlines()}
    WHO = Who("root", 0, ["--allow-root-jail"])
    tap.run([test_command, test_agent])
    WHO.holder.kill()
    matrix.strike_stage()
    tap.done()
