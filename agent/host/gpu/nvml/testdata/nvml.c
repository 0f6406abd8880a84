// As much of NVIDIA's library as is asked for: two GPUs, of which the second has fallen off the bus once it was asked twice.
#include <string.h>

typedef struct { unsigned long long total, free, used; } memory;
typedef struct { unsigned gpu, memory; } utilization;
typedef struct { char legacy[16]; unsigned domain, bus, device, id, subsystem; char busID[32]; } pci;
typedef struct { unsigned pid; unsigned long long used; unsigned instance, compute; } process;
typedef struct { unsigned pid; unsigned long long at; unsigned sm, mem, enc, dec; } sample;

static int asked, started;

int nvmlInit_v2(void) { started = 1; return 0; }
int nvmlShutdown(void) { started = 0; return 0; }
const char *nvmlErrorString(int code) { return code == 15 ? "GPU is lost" : "unknown"; }
int nvmlSystemGetDriverVersion(char *to, unsigned size) { strncpy(to, "555.42", size); return started ? 0 : 1; }
int nvmlDeviceGetCount_v2(unsigned *count) { *count = 2; return 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device) { *device = (void *)(unsigned long)(index + 1); return index < 2 ? 0 : 6; }
int nvmlDeviceGetUUID(void *device, char *to, unsigned size) { strncpy(to, device == (void *)1 ? "GPU-a" : "GPU-b", size); return 0; }
int nvmlDeviceGetName(void *device, char *to, unsigned size) { strncpy(to, "Test GPU 80GB", size); return 0; }
int nvmlDeviceGetMinorNumber(void *device, unsigned *minor) { *minor = (unsigned long)device - 1; return 0; }
int nvmlDeviceGetMemoryInfo(void *device, memory *to) { to->total = 80ULL << 30; to->used = 3ULL << 30; to->free = 77ULL << 30; return 0; }
int nvmlDeviceGetUtilizationRates(void *device, utilization *to) {
	if (device == (void *)2 && asked++ > 0) return 15;
	to->gpu = 40; to->memory = 5;
	return 0;
}
int nvmlDeviceGetPciInfo_v3(void *device, pci *to) { memset(to, 0, sizeof *to); strcpy(to->busID, device == (void *)1 ? "00000000:3B:00.0" : "00000000:5E:00.0"); return 0; }
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, process *to) {
	if (device == (void *)2) { *count = 0; return 0; }
	if (*count < 2) { *count = 2; return 7; }
	*count = 2;
	to[0].pid = 11; to[0].used = 1ULL << 30; to[1].pid = 12; to[1].used = ~0ULL;
	return 0;
}
int nvmlDeviceGetProcessUtilization(void *device, sample *to, unsigned *count, unsigned long long since) {
	if (device == (void *)2) return 6;
	*count = 2;
	memset(to, 0, 2 * sizeof *to);
	to[0].pid = 11; to[0].at = 1; to[0].sm = 10;
	to[1].pid = 11; to[1].at = 2; to[1].sm = 30;
	return 0;
}
