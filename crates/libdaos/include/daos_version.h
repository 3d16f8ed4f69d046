/* The version of the interface that these headers declare. Programs choose the forms of calls by it. */
#ifndef ISOTACH_DAOS_VERSION_H
#define ISOTACH_DAOS_VERSION_H

#define DAOS_API_VERSION_MAJOR 2
#define DAOS_API_VERSION_MINOR 8
#define DAOS_API_VERSION_FIX 0

/* The release of DAOS whose interface it is. */
#define DAOS_VERSION_MAJOR 2
#define DAOS_VERSION_MINOR 8
#define DAOS_VERSION_FIX 0

#endif
