/* base: descriptors that come with a message. */
#include "base/cleanup.h"
#include "base/fdpass.h"
#include "tests/kit/tap.h"
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { USER = 61234, FEW = 16 };

static int pair[2];

static int open_count(void)
{
	int count = 0;
	for (int fd = 0; fd < 256; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static void drop(struct fdpass *fdpass)
{
	for (int i = 0; i < fdpass->count; i++)
		own_close(&fdpass->fds[i]);
}

/* A jailed command counts as its user, and may leave more on their way than that user's other
 * programs may. */
static void test_many_on_their_way(void)
{
	struct rlimit own = {0, 0};
	int sent = 0, crowd[2];
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, crowd) ||
		(!geteuid() && setresuid(USER, USER, USER)) || getrlimit(RLIMIT_NOFILE, &own))
		bail("cannot become an ordinary user: %s", strerror(errno));
	int many[FDPASS_MAX] = {crowd[0], crowd[0], crowd[0], crowd[0]};
	while (sent <= FEW && !fdpass_send(crowd[0], "x", 1, many, FDPASS_MAX))
		sent += FDPASS_MAX;
	own.rlim_cur = FEW;
	if (sent <= FEW || setrlimit(RLIMIT_NOFILE, &own))
		bail("cannot send as many as it takes: %s", strerror(errno));
	is(fdpass_send(crowd[0], "x", 1, many, 1), 0, "more are on their way than the soft limit");
	ok(!getrlimit(RLIMIT_NOFILE, &own) && own.rlim_cur == FEW, "which stays what it was");
	close(crowd[0]);
	close(crowd[1]);
}

int main(void)
{
	char text[8];
	struct fdpass p;
	int ends[2], many[FDPASS_MAX];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) || pipe(ends))
		bail("no sockets");
	int before = open_count();

	is(fdpass_send(pair[0], "one", 3, &ends[1], 1), 0, "a message with a descriptor is sent");
	is(fdpass_receive(pair[1], text, sizeof(text), &p), 3, "and comes");
	ok(p.count == 1 && !p.cut && p.fds[1] == -1, "with it");
	is(fcntl(p.fds[0], F_GETFD), FD_CLOEXEC, "which no program inherits");
	ok(write(p.fds[0], "x", 1) == 1 && read(ends[0], text, 1) == 1, "and is that one");
	drop(&p);

	for (int i = 0; i < FDPASS_MAX; i++)
		many[i] = ends[0];
	is(fdpass_send(pair[0], "four", 4, many, FDPASS_MAX), 0, "as many as there can be");
	is(fdpass_receive(pair[1], text, sizeof(text), &p), 4, "come");
	ok(p.count == FDPASS_MAX && !p.cut, "all of them");
	drop(&p);

	fdpass_send(pair[0], "a longer one", 12, ends, 2);
	fdpass_receive(pair[1], text, sizeof(text), &p);
	ok(p.cut && p.count == 2, "what is cut says so, and its descriptors can be closed");
	drop(&p);

	is(send(pair[0], "bare", 4, 0), 4, "a message without");
	ok(fdpass_receive(pair[1], text, sizeof(text), &p) == 4 && !p.count, "has none");
	is(open_count(), before, "nothing stays open");

	test_many_on_their_way();
	close(pair[1]);
	is(fdpass_receive(pair[0], text, sizeof(text), &p), 0, "the other side is gone");
	is(p.count, 0, "and brought nothing");
	is(fdpass_send(pair[0], "x", 1, ends, 1), -1, "nobody to send to, and no signal");
	is(errno, EPIPE, "by name");
	return tap_done();
}
