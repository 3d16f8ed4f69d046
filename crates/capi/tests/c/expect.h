/* What the programs of these tests expect of a call: each failure is told, and ends the program with 1 at its end. */
#ifndef EXPECT_H
#define EXPECT_H

#include <stdio.h>
#include <string.h>

static int failures;

static inline void expect(long found, long expected, const char *what, int line, const char *reason)
{
    if (found != expected) {
        fprintf(stderr, "line %d: %s: expected %ld, found %ld (%s)\n", line, what, expected, found, reason);
        failures++;
    }
}

static inline void expect_text(const char *found, const char *part, const char *what, int line)
{
    if (found == NULL || strstr(found, part) == NULL) {
        fprintf(stderr, "line %d: %s: expected \"%s\" in \"%s\"\n", line, what, part, found == NULL ? "NULL" : found);
        failures++;
    }
}

/* A number that is expected. REASON is what the library said last. */
#define IS(call, expected) expect((long)(call), (long)(expected), #call, __LINE__, REASON)
/* A text that has a part. */
#define HAS(text, part) expect_text((text), (part), #text, __LINE__)
/* A call that is refused, with a part of the reason. */
#define REFUSED(call, expected, part) (IS(call, expected), HAS(REASON, part))

#endif
