// Memory of accelerators, including memory that they share with the host.
#ifndef CAIRN_DEVICE_H
#define CAIRN_DEVICE_H

#include "index.h"

bool cairn_device_find(uintptr_t address, struct cairn_block *block);
void cairn_devices_after_fork(void);

#endif
