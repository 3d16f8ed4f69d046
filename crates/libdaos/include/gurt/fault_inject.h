/* Faults that tests of DAOS's inject: the library of this project injects none. */
#ifndef ISOTACH_GURT_FAULT_INJECT_H
#define ISOTACH_GURT_FAULT_INJECT_H

#include <stdbool.h>

#include <gurt/debug.h>

#if defined(__cplusplus)
extern "C" {
#endif

struct d_fault_attr_t;

extern unsigned int d_fault_inject;
extern unsigned int d_fault_config_file;
extern struct d_fault_attr_t *d_fault_attr_mem;

bool d_should_fail(struct d_fault_attr_t *fault_attr);
#define D_SHOULD_FAIL(fault_attr) (d_fault_inject != 0 && d_should_fail(fault_attr))

#if defined(__cplusplus)
}
#endif

#endif
