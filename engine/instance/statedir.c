#include "instance/statedir.h"

#include "config/config.h"

#include <stdio.h>
#include <string.h>

int statedir_find(const char *workspace, const char *state_dir, const char *repo_id,
	struct statedir *out, struct err *e)
{
	AUTO_FREE char *real = realpath(workspace, NULL);
	if (!real)
		return err_errno(e, "cannot find the workspace %s", workspace);
	AUTO_FREE char *state = config_state_dir(state_dir, real, e);
	if (!state)
		return -1;
	char *repo = NULL;
	if (asprintf(&repo, "%s/%s", state, repo_id) < 0)
		return err_set(e, "out of memory");
	*out = (struct statedir){TAKE_PTR(state), repo, TAKE_PTR(real)};
	return 0;
}

void statedir_done(struct statedir *statedir)
{
	free(statedir->root);
	free(statedir->repo);
	free(statedir->workspace);
	*statedir = (struct statedir){0};
}
