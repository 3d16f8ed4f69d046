/* What the programs of these tests expect of a call: each failure is told, and the last thing a program gives is whether there was one. */
#ifndef EXPECT_H
#define EXPECT_H

#include <stdio.h>

static int failures;

static void expect(long found, long expected, const char *what, int line)
{
    if (found != expected) {
        fprintf(stderr, "line %d: %s: expected %ld, found %ld\n", line, what, expected, found);
        failures++;
    }
}

#define IS(call, expected) expect((call), (expected), #call, __LINE__)

#endif
