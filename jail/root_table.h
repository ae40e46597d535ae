/*
 * The places, files and links that a jail's root has of its own, whatever the policy grants.
 */
#ifndef JAIL_ROOT_TABLE_H
#define JAIL_ROOT_TABLE_H
#include "base/path.h"

/* clang-format off */
/* Condition, kind of place (layout.h), paths. A read-only place may be absent on the host; so may
 * the places of etc_table.h, which every jail has too. */
#define ROOT_PLACES(X) \
	X(ALWAYS, PLACE_READ, PATH_SYSTEM_DIRS) \
	X(ONLY_HARDENED, PLACE_READ, PATH_HARDENED_FILES) \
	X(ONLY_ONLINE, PLACE_READ, "/etc/resolv.conf") \
	X(ALWAYS, PLACE_DEVICE, \
		"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom") \
	X(ALWAYS, PLACE_TMPFS, "/tmp") \
	X(ALWAYS, PLACE_TMPFS, "/dev/shm") \
	X(ALWAYS, PLACE_PROC, "/proc") \
	/* It is about the host, and no program needs it. Programs do need most of the files that \
	 * "subset=pid" leaves out: without cpuinfo and meminfo Node.js finds no processor, and ps, \
	 * free and uptime fail. */ \
	X(ONLY_STRICT, PLACE_HIDE, "/proc/cmdline") \
	X(ONLY_PTY, PLACE_PTS, "/dev/pts") \
	X(ONLY_PTY, PLACE_DEVICE, ROOT_OWN_TERMINAL)

/* The terminal that the process has: none, or one of its jail. */
#define ROOT_OWN_TERMINAL "/dev/tty"

/* The jail's host name, which /etc/hosts has for programs that look up their own host. */
#define ROOT_HOST_NAME "jail"

#define ROOT_FILES(X) \
	X("etc/passwd", \
		"root:x:0:0:root:/nonexistent:/usr/sbin/nologin\n" \
		"agent:x:1000:1000:agent:/tmp/home:/bin/sh\n" \
		"nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n") \
	X("etc/group", "root:x:0:\nagent:x:1000:\nnogroup:x:65534:\n") \
	X("etc/hosts", "127.0.0.1 localhost " ROOT_HOST_NAME "\n::1 localhost\n") \
	X("etc/nsswitch.conf", \
		"passwd: files\ngroup: files\nhosts: files dns\n" \
		"services: files\nprotocols: files\n")

#define ROOT_LINKS(X) \
	X("dev/fd", "/proc/self/fd") \
	X("dev/stdin", "/proc/self/fd/0") \
	X("dev/stdout", "/proc/self/fd/1") \
	X("dev/stderr", "/proc/self/fd/2")
/* clang-format on */

#endif
