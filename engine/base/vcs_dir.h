/*
 * Looks for the parts of a repository in a directory on disk (base/vcs.h).
 */
#ifndef BASE_VCS_DIR_H
#define BASE_VCS_DIR_H

/* Returns the roles of the entries of `dir_fd`, which may be O_PATH. For a directory that cannot be
 * listed: all those of a git directory, since nothing is known of it. */
unsigned vcs_dir_parts(int dir_fd);
#endif
