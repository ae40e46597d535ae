/*
 * What a directory on disk holds of a repository (base/vcs.h).
 */
#ifndef BASE_VCS_DIR_H
#define BASE_VCS_DIR_H

/* The parts that the entries of `dir_fd` are, which may be O_PATH. Of one that cannot be listed:
 * all of a git directory's, since nothing is known of it. */
unsigned vcs_dir_parts(int dir_fd);
#endif
