/*
 * Functions that have no safe use here, refused at compile time (idea: git's banned.h).
 * Force-included before everything else by the build.
 */
#ifndef BASE_BANNED_H
#define BASE_BANNED_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BANNED(name) banned_function_##name

#undef strcpy
#define strcpy(a, b) BANNED(strcpy)
#undef strcat
#define strcat(a, b) BANNED(strcat)
#undef strncpy
#define strncpy(a, b, n) BANNED(strncpy)
#undef strncat
#define strncat(a, b, n) BANNED(strncat)
#undef strtok
#define strtok(a, b) BANNED(strtok)
#undef sprintf
#define sprintf(...) BANNED(sprintf)
#undef vsprintf
#define vsprintf(...) BANNED(vsprintf)
#undef atoi
#define atoi(a) BANNED(atoi)
#undef atol
#define atol(a) BANNED(atol)
#undef atof
#define atof(a) BANNED(atof)
#undef gmtime
#define gmtime(t) BANNED(gmtime)
#undef localtime
#define localtime(t) BANNED(localtime)
#undef ctime
#define ctime(t) BANNED(ctime)
#undef system
#define system(c) BANNED(system)
#undef popen
#define popen(c, m) BANNED(popen)
#undef alloca
#define alloca(n) BANNED(alloca)
#endif
