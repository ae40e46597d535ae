#include "broker/relay.h"

#include <string.h>
#include <sys/socket.h>

enum { POOL_MAX = 4, ROUNDS_MAX = 8, DRAIN_ROUNDS_MAX = 64 };

struct block {
	struct block *next; /* in the pool */
	char bytes[BLOCK_BYTES];
};

static struct block *pool_take(struct block_pool *pool)
{
	struct block *b = pool->free;
	if (!b)
		return malloc(sizeof(*b));
	pool->free = b->next;
	pool->count--;
	return b;
}

static void flow_drop(struct flow *f, struct block_pool *pool)
{
	struct block *b = f->block;
	f->block = NULL;
	f->start = f->end = f->approved = 0;
	if (!b)
		return;
	if (pool->count == POOL_MAX) {
		free(b);
		return;
	}
	b->next = pool->free;
	pool->free = b;
	pool->count++;
}

/* Writability is asked for only while a write is blocked: a socketpair reports it with every read
 * of the other end. */
static const uint32_t idle_events = EPOLLIN | EPOLLRDHUP | EPOLLET;

static int side_open(struct relay *r, struct side *side, int fd)
{
	side->watch.fd = fd;
	side->writable = true;
	return loop_add(r->loop, &side->watch, idle_events);
}

static void side_block(struct relay *r, struct side *side)
{
	side->writable = false;
	loop_change(r->loop, &side->watch, idle_events | EPOLLOUT);
}

int relay_init(struct relay *r, int agent_fd)
{
	r->upstream.watch.fd = -1;
	r->ending = "eof";
	return side_open(r, &r->agent, agent_fd);
}

int relay_connect(struct relay *r, int upstream_fd)
{
	return side_open(r, &r->upstream, upstream_fd);
}

/* Closing a socket with unread bytes sends a reset, which may overtake what was forwarded. */
static void drain(int fd, struct block_pool *pool)
{
	struct block *scratch = pool_take(pool);
	struct flow f = {.block = scratch};
	for (int i = 0; scratch && i < DRAIN_ROUNDS_MAX; i++)
		if (recv(fd, scratch->bytes, sizeof(scratch->bytes), MSG_DONTWAIT) <= 0)
			break;
	flow_drop(&f, pool);
}

void relay_done(struct relay *r)
{
	int fds[] = {r->agent.watch.fd, r->upstream.watch.fd};
	for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
		if (fds[i] < 0)
			continue;
		if (r->refused) {
			shutdown(fds[i], SHUT_WR);
			drain(fds[i], r->pool);
		}
		close(fds[i]);
	}
	flow_drop(&r->up, r->pool);
	flow_drop(&r->down, r->pool);
}

void relay_refuse(struct relay *r, enum refusal why)
{
	r->refused = why;
	r->closed = "refused";
}

/* Nothing can be written to `side` any more; what it has sent is still read. */
static void lose_writer(struct relay *r, struct side *side)
{
	struct flow *f = side == &r->agent ? &r->down : &r->up;
	f->shut = true;
	flow_drop(f, r->pool);
	r->ending = side == &r->agent ? "agent" : "reset";
}

void relay_see(struct relay *r, struct side *side, uint32_t events)
{
	side->readable |= (events & ~(uint32_t)EPOLLOUT) != 0;
	side->hung |= (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
	if (events & EPOLLOUT && !side->writable) {
		side->writable = true;
		loop_change(r->loop, &side->watch, idle_events);
	}
	/* A socketpair hangs up when its other end is closed for good: nobody reads any more. */
	if (side == &r->agent && events & EPOLLHUP)
		lose_writer(r, side);
}

static bool fill(struct relay *r, struct flow *f, struct side *from)
{
	if (!f->block && !(f->block = pool_take(r->pool)))
		return false;
	if (f->start > 0) {
		memmove(f->block->bytes, f->block->bytes + f->start, f->end - f->start);
		f->end -= f->start;
		f->start = 0;
	}
	size_t room = BLOCK_BYTES - f->end;
	ssize_t got = recv(from->watch.fd, f->block->bytes + f->end, room, MSG_DONTWAIT);
	if (got > 0) {
		if (f == &r->down)
			pin_reply(&r->pin, f->block->bytes + f->end, (size_t)got);
		f->end += (size_t)got;
		from->readable = from->hung || (size_t)got == room;
		return true;
	}
	if (got < 0 && errno == EINTR)
		return true;
	from->readable = false;
	f->ended = got == 0 || errno != EAGAIN;
	if (got < 0 && errno != EAGAIN)
		lose_writer(r, from);
	if (f->end == 0)
		flow_drop(f, r->pool);
	return f->ended;
}

static void approve(struct relay *r)
{
	struct flow *up = &r->up;
	size_t passed, offered = up->end - up->start - up->approved;
	if (offered == 0)
		return;
	enum refusal why =
		pin_take(&r->pin, up->block->bytes + up->start + up->approved, offered, &passed);
	up->approved += passed;
	if (why)
		relay_refuse(r, why);
}

static bool pass_on(struct relay *r, struct flow *f, struct side *to)
{
	size_t want = f->approved;
	if (f == &r->up && want > *r->budget) {
		want = (size_t)*r->budget;
		if (want == 0) {
			relay_refuse(r, REFUSED_BUDGET);
			return false;
		}
	}
	ssize_t put =
		send(to->watch.fd, f->block->bytes + f->start, want, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (put < 0) {
		if (errno == EAGAIN)
			side_block(r, to);
		else if (errno != EINTR)
			lose_writer(r, to);
		return errno == EINTR;
	}
	f->start += (size_t)put;
	f->approved -= (size_t)put;
	f->moved += (uint64_t)put;
	if (f == &r->up && *r->budget != UINT64_MAX)
		*r->budget -= (uint64_t)put;
	if (f->start == f->end)
		flow_drop(f, r->pool);
	return true;
}

static bool step(struct relay *r, struct flow *f, struct side *from, struct side *to)
{
	bool moved = false;
	bool holding = f->end > f->start;
	bool room = !holding || (f->approved == 0 && f->end - f->start < BLOCK_BYTES);
	if (from->readable && !f->ended && !f->shut && room)
		moved = fill(r, f, from);
	if (f == &r->up)
		approve(r);
	else
		f->approved = f->end - f->start;
	if (!r->closed && f->approved > 0 && to->writable)
		moved |= pass_on(r, f, to);
	if (f->ended && !f->shut && f->end == f->start && to->watch.fd >= 0) {
		shutdown(to->watch.fd, SHUT_WR);
		f->shut = true;
		moved = true;
	}
	return moved;
}

/* The agent sent its last byte: what the pin still waits for will not come. */
static void judge_end(struct relay *r)
{
	if (!r->up.ended || r->up.approved > 0 || r->closed)
		return;
	if (r->up.end > r->up.start && pin_wants_more(&r->pin))
		relay_refuse(r, pin_unfinished(&r->pin));
	else if (r->up.end == r->up.start && pin_holds_all(&r->pin))
		r->closed = "agent";
}

bool relay_pump(struct relay *r)
{
	bool moved = true;
	for (int i = 0; moved && !r->closed && i < ROUNDS_MAX; i++) {
		moved = step(r, &r->up, &r->agent, &r->upstream);
		judge_end(r);
		if (!r->closed && !pin_holds_all(&r->pin))
			moved |= step(r, &r->down, &r->upstream, &r->agent);
		if (!r->closed && r->up.shut && r->down.shut)
			r->closed = r->ending;
	}
	return moved && !r->closed;
}
