/*
 * An agent's request: an order in the first line, a task in the second. Whatever the bytes, each is
 * read whole or refused with a reason, the first line not a byte too far; and what was read is
 * written and read again as the same.
 */
#include "agent/request.h"
#include "base/io.h"
#include "base/json.h"

#include <string.h>
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void require(bool held)
{
	if (!held)
		abort();
}

static void require_texts(const struct agent_texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		require(texts->items[i]);
}

static void require_provider(const struct agent_provider *provider)
{
	require(provider->name && provider->api_format && provider->base_url && provider->auth);
	require_texts(&provider->headers);
}

static void check_order(const struct agent_order *order)
{
	struct agent_order again;
	struct err e = ERR_NONE;
	require(order->profile && order->agent_network && order->workspace && order->state_dir);
	for (size_t i = 0; i < order->channel_count; i++)
		require(order->channels[i].name && order->channels[i].endpoint);
	json_auto_t *object = agent_order_encode(order);
	require(object && !agent_order_decode(object, &again, &e));
	json_auto_t *same = agent_order_encode(&again);
	require(json_equal(object, same));
	agent_order_done(&again);
}

static void check_task(const struct agent_task *task, const struct record *result)
{
	struct agent_task again;
	struct err e = ERR_NONE;
	require(task->mode && task->prompt && task->model && !result == !task->result);
	require(task->limits.max_iterations >= 1 && task->limits.max_microusd >= -1);
	require_provider(&task->provider);
	if (task->reviewer)
		require_provider(&task->reviewer->provider);
	require_texts(&task->secrets);
	json_auto_t *object = agent_task_encode(task);
	require(object && !agent_task_decode(object, &again, &e));
	json_auto_t *same = agent_task_encode(&again);
	require(json_equal(object, same));
	agent_task_done(&again);
}

static void take_order(int fd, size_t line_len)
{
	struct agent_order order;
	struct err e = ERR_NONE;
	int rc = order_read(fd, &order, &e);
	require(!rc == !*e.text);
	if (rc)
		return;
	require(lseek(fd, 0, SEEK_CUR) == (off_t)line_len + 1);
	check_order(&order);
	agent_order_done(&order);
}

static void take_task(int fd)
{
	struct agent_task task;
	const struct record *result = NULL;
	struct err e = ERR_NONE;
	int rc = task_read(fd, &task, &result, &e);
	require(!rc == !*e.text);
	if (rc)
		return;
	check_task(&task, result);
	task_done(&task);
}

/* A task is looked at behind a bad order, too: an input needs to be right in one of them only. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const uint8_t *newline = memchr(data, '\n', len);
	size_t first = newline ? (size_t)(newline - data) : len;
	AUTO_FD int fd = memfd_create("request", MFD_CLOEXEC);
	require(fd >= 0 && !io_write(fd, data, len) && !lseek(fd, 0, SEEK_SET));
	take_order(fd, first);
	if (newline && lseek(fd, (off_t)first + 1, SEEK_SET) > 0)
		take_task(fd);
	return 0;
}
