// handler.h - the regions that the SIGBUS handler knows. One thread at a time may call fault_watch and fault_end.
#pragma once
#include <stdint.h>

typedef struct fault_region fault_region;

// fault_install puts the handler in front of the one that is there, Go's. Call it once.
void fault_install(void);

// fault_watch adds n bytes at from, the start of a mapping. It returns NULL when there is no memory.
fault_region *fault_watch(uintptr_t from, uintptr_t n);

// fault_lost says whether the region has been replaced by zeros.
int fault_lost(fault_region *r);

// fault_end forgets the region.
void fault_end(fault_region *r);
