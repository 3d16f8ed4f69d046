/* What the programs of these tests expect of a call: each failure is told, and the last thing a program gives is whether there was one. */
#ifndef EXPECT_H
#define EXPECT_H

#include <stdio.h>
#include <unistd.h>

static int failures;

static void expect(long found, long expected, const char *what, int line)
{
    if (found != expected) {
        fprintf(stderr, "process %d, line %d: %s: expected %ld, found %ld\n", (int)getpid(), line, what, expected, found);
        failures++;
    }
}

#define IS(call, expected) expect((long)(call), (long)(expected), #call, __LINE__)

#endif
