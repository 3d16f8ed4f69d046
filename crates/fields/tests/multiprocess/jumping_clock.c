/* A library to preload: the time of day is wrong by up to three hours, before or after, and by another amount at each look. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static unsigned looks;

int clock_gettime(clockid_t clock, struct timespec *time) {
    int outcome = (int)syscall(SYS_clock_gettime, clock, time);
    if (outcome == 0 && clock == CLOCK_REALTIME) {
        unsigned look = __atomic_add_fetch(&looks, 1, __ATOMIC_RELAXED) + (unsigned)getpid();
        time->tv_sec += ((long)((look * 2654435761u) >> 8) % 7 - 3) * 3600;
    }
    return outcome;
}
