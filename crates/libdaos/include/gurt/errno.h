/* Error numbers. */
#ifndef ISOTACH_GURT_ERRNO_H
#define ISOTACH_GURT_ERRNO_H

#include <daos_errno.h>

#endif
