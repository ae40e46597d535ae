/* base: buffers, arenas, error values, ownership. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "tests/kit/tap.h"
#include <fcntl.h>
#include <stdint.h>
#include <string.h>

static void test_buf(void)
{
	AUTO_BUF b;
	buf_init(&b, 10);
	is_str(b.data, "", "a new buffer holds an empty text");
	buf_clear(&b);
	buf_drop(&b, 1);
	is_str(b.data, "", "and still does when it was emptied");
	ok(!buf_adds(&b, "abc") && !buf_addc(&b, 'd') && !buf_addf(&b, "%d", 42), "appends");
	is_str(b.data, "abcd42", "what it holds");
	buf_drop(&b, 2);
	is_str(b.data, "cd42", "dropped from the front");
	buf_drop(&b, 100);
	is(b.len, 0, "dropping more than there is");
	ok(!buf_add(&b, "0123456789", 10), "exactly the limit");
	is(buf_addc(&b, 'x'), -1, "one more fails");
	is(b.len, 10, "and changes nothing");
	buf_drop(&b, 5);
	is(buf_addc(&b, 'x'), -1, "a failed buffer stays failed");
	is_str(buf_take(&b, NULL), NULL, "and hands nothing out");
	buf_clear(&b);
	is(buf_addf(&b, "%s", "01234567890"), -1, "a formatted text over the limit");
	buf_clear(&b);
	is_str(b.data, "", "cleared");
	buf_adds(&b, "taken");
	size_t len = 0;
	AUTO_FREE char *text = buf_take(&b, &len);
	is_str(text, "taken", "handed out");
	is(len, 5, "its length");
	is(b.len, 0, "nothing left behind");
	is_str(b.data, "", "but an empty text");
	AUTO_FREE char *empty = buf_take(&b, &len);
	is_str(empty, "", "an empty buffer hands out an empty text");
	buf_add(&b, "a\0b", 3);
	is(b.len, 3, "bytes, not strings");
}

static void test_arena(void)
{
	struct arena a;
	arena_init(&a);
	bool aligned = true, zeroed = true;
	for (size_t i = 1; i < 3000; i += 7) {
		unsigned char *p = arena_alloc(&a, i);
		aligned &= (uintptr_t)p % _Alignof(double) == 0;
		for (size_t k = 0; k < i; k++)
			zeroed &= !p[k];
		memset(p, 0xaa, i);
	}
	ok(aligned, "aligned for pointers and numbers");
	ok(zeroed, "zeroed");
	char *first = arena_copy(&a, "one", 3);
	unsigned char *big = arena_array(&a, 1000, 1000);
	char *second = arena_copy(&a, "two", 3);
	memset(big, 0xbb, 1000000);
	is_str(first, "one", "a block larger than usual overlaps nothing before");
	is_str(second, "two", "nor behind");
	is_str(arena_copy(&a, NULL, 0), "", "an empty copy");
	/* Far enough for the blocks that are mapped. */
	size_t wrong = 0;
	for (size_t i = 0; i < 100000; i++) {
		uint64_t *p = arena_alloc(&a, 100);
		for (size_t k = 0; k < 12; k++)
			wrong += p[k] != 0;
		memset(p, 0xcc, 100);
		arena_copy(&a, "text", i % 5);
	}
	is(wrong, 0, "10 MB of zeroed pieces");
	ok(a.used_bytes > 1000000, "what was handed out is counted");
	arena_done(&a);
	is(a.used_bytes, 0, "released");
}

/* Mapped memory comes in whole huge pages. */
static void test_arena_rest(void)
{
	enum { LARGE = 5 << 20, MAPPED = 8 << 20 };
	struct arena a;
	arena_init(&a);
	arena_copy(&a, "one", 3);
	char *large = arena_alloc(&a, LARGE), *behind = arena_alloc(&a, 100);
	ok(behind >= large + LARGE && behind < large + MAPPED,
		"what a large piece leaves of its pages is used");
	char *whole = arena_alloc(&a, MAPPED - 4096), *more = arena_alloc(&a, 5000);
	ok(more > behind && more < large + MAPPED, "and not given up for less");
	memset(whole, 0xdd, MAPPED - 4096);
	memset(more, 0xee, 5000);
	arena_done(&a);
}

static void test_err(void)
{
	struct err e = ERR_NONE;
	is(err_set(&e, "cause %d", 1), -1, "err_set");
	is(err_set(&e, "later"), -1, "a second cause");
	is_str(e.text, "cause 1", "the first cause wins");
	is(err_wrap(&e, "while %s", "trying"), -1, "err_wrap");
	is_str(e.text, "while trying: cause 1", "context in front");
	e = ERR_NONE;
	errno = ENOENT;
	err_errno(&e, "cannot open %s", "x");
	is_str(e.text, "cannot open x: No such file or directory", "with the reason");
	is(e.number, ENOENT, "and its number");
	is(errno, ENOENT, "errno is kept");
	is(err_set(NULL, "x"), -1, "nobody listens");
	is(err_errno(NULL, "x"), -1, "nobody listens to errno");
	is(err_wrap(NULL, "x"), -1, "nobody listens to context");
	char longest[3000];
	memset(longest, 'x', sizeof(longest));
	longest[2999] = '\0';
	e = ERR_NONE;
	err_set(&e, "%s", longest);
	err_wrap(&e, "%s", longest);
	is(strlen(e.text), sizeof(e.text) - 1, "cut, never overrun");
}

static void test_own(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), raw = fd;
	{
		AUTO_FD int owned = fd;
		is(owned, fd, "held");
	}
	is(fcntl(raw, F_GETFD), -1, "closed at the end of the scope");
	AUTO_FD int again = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int moved = TAKE_FD(again);
	is(again, -1, "moved out");
	ok(fcntl(moved, F_GETFD) >= 0, "and still open");
	close(moved);
}

int main(void)
{
	test_buf();
	test_arena();
	test_arena_rest();
	test_err();
	test_own();
	return tap_done();
}
