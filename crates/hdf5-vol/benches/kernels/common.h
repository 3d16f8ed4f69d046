/* What the kernels share: options, errors, times, and the line of JSON that a kernel prints. */
#ifndef COMMON_H
#define COMMON_H

#include <mpi.h>
#include <stdbool.h>

extern int rank, ranks;

/* MPI_Init, and who we are. */
void begin(int *argc, char ***argv);

/* The value of option `--name`, a number of at least `least`. A value that is none ends the program. */
long long option(int argc, char **argv, const char *name, long long least, long long otherwise);

/* The value of option `--name`, a word that must be one of `words`, which NULL ends: its number. */
int choice(int argc, char **argv, const char *name, const char *const *words);

/* Ends the program if an argument is no option of this kernel. `names` ends with NULL. */
void only_options(int argc, char **argv, const char *const *names);

/* Ends all ranks with a text. */
void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* The result of a call of HDF5, or of netCDF-C, that must succeed. */
#define H5(call) h5_result((long long)(call), #call)
#define NC(call) nc_result((call), #call)
long long h5_result(long long result, const char *call);
void nc_result(int status, const char *call);

/* Memory for `count` elements, zeroed. There may be none. */
void *memory(long long count, unsigned long size);

/* A phase of all ranks begins together, and ends when the last one has. */
double phase_begin(void);
double phase_seconds(double began);

/* Counts elements that were read and are not what was written. */
void expect(bool right);

/* The line: `{"kernel": NAME, "ranks": R, ...`. Only rank 0 prints. */
void report_begin(const char *kernel);
void report_text(const char *name, const char *value);
void report_count(const char *name, long long value);
void report_seconds(const char *name, double value);
/* How many MiB a phase moved in a second, with its seconds: `NAME_seconds` and `NAME_mib_per_second`. */
void report_phase(const char *name, long long bytes, double seconds);
/* The same for objects: `NAME_seconds` and `NAME_objects_per_second`. */
void report_objects(const char *name, long long objects, double seconds);

/* Ends the line with how many elements were wrong, and MPI. The exit code: 0 if none was. */
int end(void);

#endif
