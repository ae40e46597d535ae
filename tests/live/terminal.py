#!/usr/bin/env python3
"""Runs a program on a terminal of its own and answers what it asks.

terminal.py [EXPECT SEND]... -- CMD...: waits for each EXPECT (a plain string) in what is printed
since the last one, then types SEND. Prints everything that was on the screen; ends with the
program's exit status. SEND "^D" is end of file, and so any "^X"; "" is nothing; EXPECT may be empty.
"""
import os
import pty
import select
import sys
import time

split = sys.argv.index("--")
script, command = sys.argv[1:split], sys.argv[split + 1:]
pid, fd = pty.fork()
if pid == 0:
    os.execvp(command[0], command)
screen, seen, at, end = b"", 0, 0, time.monotonic() + 240
while True:
    while at < len(script) and (found := screen.find(script[at].encode(), seen)) >= 0:
        seen = found + len(script[at].encode())
        if script[at + 1]:
            send = script[at + 1].encode()
            os.write(fd, bytes([send[1] & 31]) if send[:1] == b"^" else send + b"\r")
        at += 2
    ready, _, _ = select.select([fd], [], [], max(0, end - time.monotonic()))
    try:
        chunk = os.read(fd, 65536) if ready else b""
    except OSError:
        chunk = b""
    if not chunk:
        break
    screen += chunk
sys.stdout.buffer.write(screen)
if not ready:
    os.kill(pid, 9)
    sys.exit("terminal.py: no end; waiting for %r" % script[at:at + 1])
_, status = os.waitpid(pid, 0)
if at < len(script):
    sys.exit("terminal.py: never saw %r" % script[at])
sys.exit(os.waitstatus_to_exitcode(status))
