/*
 * agent6-agent: one agent state. The order below is the security argument, top to bottom: the way
 * out exists before the walls, the walls before the key, the key before the first provider call.
 * The jail's launcher is older still: it holds neither the way out nor, ever, the key.
 */
#include "agent/channels.h"
#include "agent/emit.h"
#include "agent/loop.h"
#include "agent/request.h"
#include "agent/self_confine.h"
#include "base/exit.h"
#include "launch/launcher.h"
#include "provider/http.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

struct agent {
	struct agent_order order;
	struct channels channels;
	struct agent_task task;
	struct loop_result result;
	struct launcher launcher;
	int workspace_fd;
};

static int open_workspace(struct agent *agent, struct err *e)
{
	agent->workspace_fd = open(agent->order.workspace, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return agent->workspace_fd < 0
		       ? err_errno(e, "cannot open the workspace %s", agent->order.workspace)
		       : 0;
}

static int report_confined(const struct agent_order *order, struct err *e)
{
	json_t *layers = json_object();
	if (self_confine(order, layers, e)) {
		json_decref(layers);
		return -1;
	}
	emit(EVENT_CONFINED, json_pack("{s:o}", "layers", layers));
	return 0;
}

static int prepare(struct agent *agent, struct err *e)
{
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	if (order_read(STDIN_FILENO, &agent->order, e) || open_workspace(agent, e))
		return -1;
	if (agent->order.commands &&
		launcher_start(&agent->order.commands->policy, -1, &agent->launcher, e))
		return -1;
	if (http_global(e) || channels_start(&agent->order, &agent->channels, e))
		return -1;
	return report_confined(&agent->order, e);
}

static int work(struct agent *agent, struct err *e)
{
	const struct record *result;
	if (task_read(STDIN_FILENO, &agent->task, &result, e))
		return -1;
	int channel = channels_find(&agent->channels, &agent->order, agent->task.provider.name);
	if (channel < 0)
		return err_set(e, "provider %s has no channel", agent->task.provider.name);
	const struct agent_reviewer *by = agent->task.reviewer;
	int reviewer = by ? channels_find(&agent->channels, &agent->order, by->provider.name) : -1;
	if (by && reviewer < 0)
		return err_set(e, "provider %s has no channel", by->provider.name);
	struct loop_world world = {.channels = &agent->channels,
		.channel_fd = channel,
		.reviewer_fd = reviewer,
		.workspace_fd = agent->workspace_fd,
		.workspace = agent->order.workspace,
		.launcher = &agent->launcher,
		.commands = agent->order.commands,
		.result = result};
	int rc = loop_run(&agent->task, &world, &agent->result, e);
	task_done(&agent->task);
	return rc;
}

static const char usage[] =
	"usage: agent6-agent\n\n"
	"Carries out one agent state; agent6 starts it. It takes no arguments: two JSON\n"
	"lines on its standard input are its orders and its work, and what happens goes\n"
	"as JSON lines to its standard output.\n\n"
	"  --help  print this and exit\n";

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--help"))
		return fputs(usage, stdout) < 0 || fflush(stdout) ? EXIT_FAILED : EXIT_OK;
	if (argc > 1)
		return fputs(usage, stderr), EXIT_REFUSED;
	struct agent a = {
		.channels = {.control_fd = -1}, .launcher = LAUNCHER_NONE, .workspace_fd = -1};
	struct err e = ERR_NONE;
	if (prepare(&a, &e)) {
		emit(EVENT_RESULT, loop_failure(e.text));
		return EXIT_SANDBOX;
	}
	int rc = work(&a, &e);
	channels_stop(&a.channels);
	emit(EVENT_RESULT, rc ? loop_failure(e.text) : loop_result_json(&a.result));
	loop_result_done(&a.result);
	agent_order_done(&a.order);
	own_close(&a.workspace_fd);
	launcher_stop(&a.launcher);
	return 0;
}
