//go:build linux && (amd64 || arm64)

// Package nvml is NVIDIA's management library, loaded when it is there. A program that imports it needs the machine's dynamic
// linker, so that only koord-nvml does.
package nvml

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"

	"koordinator.sh/koord/agent/host/gpu"
)

// Name of the library.
const Name = "libnvidia-ml.so.1"

// code is what functions of the library return.
type code int32

// Codes that mean something here.
const (
	success          code = 0
	notSupported     code = 3
	insufficientSize code = 7
)

// device is a handle of the library.
type device uintptr

// memory is nvmlMemory_t, utilization nvmlUtilization_t.
type (
	memory      struct{ total, _, used uint64 }
	utilization struct{ gpu, _ uint32 }
)

// pciInfo is nvmlPciInfo_t: before the bus in full there are a short form of it and five numbers.
type pciInfo struct {
	_     [16]byte
	_     [5]uint32
	busID [32]byte
}

// processInfo is nvmlProcessInfo_v2_t, which version 3 of the function fills as well; it ends with two numbers of parts of GPUs.
type processInfo struct {
	pid        uint32
	_          uint32
	usedMemory uint64
	_          [2]uint32
}

// processUse is nvmlProcessUtilizationSample_t; it ends with what was used of memory, encoders and decoders.
type processUse struct {
	pid       uint32
	_         uint32
	timestamp uint64
	sm        uint32
	_         [3]uint32
}

// Library is the loaded library. One goroutine at a time may use it.
type Library struct {
	handle uintptr
	// since is the time of the latest samples of processes, by index of the device.
	since map[int]uint64

	shutdown      func() code
	errorString   func(code) string
	driverVersion func(*byte, uint32) code
	count         func(*uint32) code
	byIndex       func(uint32, *device) code
	uuid, name    func(device, *byte, uint32) code
	minor         func(device, *uint32) code
	memory        func(device, *memory) code
	rates         func(device, *utilization) code
	pci           func(device, *pciInfo) code
	processes     func(device, *uint32, *processInfo) code
	processUse    func(device, *processUse, *uint32, uint64) code
}

var _ gpu.Library = (*Library)(nil)

// Open loads and starts the library. It must be closed. An error says that there is no driver, or none that can be used.
func Open(name string) (*Library, error) {
	handle, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", name, err)
	}
	l := &Library{handle: handle, since: map[int]uint64{}}
	var start func() code
	for symbol, function := range map[string]any{
		"nvmlInit_v2": &start, "nvmlShutdown": &l.shutdown, "nvmlErrorString": &l.errorString, "nvmlSystemGetDriverVersion": &l.driverVersion,
		"nvmlDeviceGetCount_v2": &l.count, "nvmlDeviceGetHandleByIndex_v2": &l.byIndex, "nvmlDeviceGetUUID": &l.uuid, "nvmlDeviceGetName": &l.name,
		"nvmlDeviceGetMinorNumber": &l.minor, "nvmlDeviceGetMemoryInfo": &l.memory, "nvmlDeviceGetUtilizationRates": &l.rates,
		"nvmlDeviceGetPciInfo_v3": &l.pci, "nvmlDeviceGetComputeRunningProcesses_v3": &l.processes, "nvmlDeviceGetProcessUtilization": &l.processUse,
	} {
		address, err := purego.Dlsym(handle, symbol)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("load %s: find %s: %w", name, symbol, err), purego.Dlclose(handle))
		}
		purego.RegisterFunc(function, address)
	}
	if err := l.check("start", start()); err != nil {
		return nil, errors.Join(err, purego.Dlclose(handle))
	}
	return l, nil
}

// Close stops and unloads the library.
func (l *Library) Close() error {
	return errors.Join(l.check("stop", l.shutdown()), purego.Dlclose(l.handle))
}

// check makes an error of a code.
func (l *Library) check(what string, result code) error {
	if result == success {
		return nil
	}
	return fmt.Errorf("%s: NVML says %q (%d)", what, l.errorString(result), result)
}

// Driver implements gpu.Library.
func (l *Library) Driver() (string, error) {
	var buffer [80]byte
	err := l.check("read the version of the driver", l.driverVersion(&buffer[0], uint32(len(buffer))))
	return text(buffer[:]), err
}

// Count implements gpu.Library.
func (l *Library) Count() (int, error) {
	var count uint32
	err := l.check("count devices", l.count(&count))
	return int(count), err
}

// Describe implements gpu.Library.
func (l *Library) Describe(index int) (gpu.Device, error) {
	var out gpu.Device
	var handle device
	if err := l.check("find the device", l.byIndex(uint32(index), &handle)); err != nil {
		return out, err
	}
	var uuid, name [96]byte
	var minor uint32
	var where pciInfo
	var size memory
	err := errors.Join(
		l.check("read the UUID", l.uuid(handle, &uuid[0], uint32(len(uuid)))),
		l.check("read the minor number", l.minor(handle, &minor)),
		l.check("read the name", l.name(handle, &name[0], uint32(len(name)))),
		l.check("read the bus", l.pci(handle, &where)),
		l.check("read the memory", l.memory(handle, &size)),
	)
	out = gpu.Device{Minor: int32(minor), UUID: text(uuid[:]), Model: text(name[:]), BusID: busID(text(where.busID[:])), MemoryTotal: int64(size.total)}
	return out, err
}

// Use implements gpu.Library. What a GPU does not account for, as in parts of one, is left at zero.
func (l *Library) Use(index int, to *gpu.Device) error {
	var handle device
	if err := l.check("find the device", l.byIndex(uint32(index), &handle)); err != nil {
		return err
	}
	var size memory
	var rates utilization
	problems := []error{l.check("read the memory", l.memory(handle, &size))}
	if result := l.rates(handle, &rates); result != notSupported {
		problems = append(problems, l.check("read the utilization", result))
	}
	to.MemoryUsed, to.CoreUsed = int64(size.used), int64(min(rates.gpu, 100))
	processes, err := l.processesOf(handle, index)
	to.Processes = processes
	return errors.Join(append(problems, err)...)
}

// processesOf a device with what they use.
func (l *Library) processesOf(handle device, index int) ([]gpu.Process, error) {
	infos := make([]processInfo, 64)
	count := uint32(len(infos))
	result := l.processes(handle, &count, &infos[0])
	if result == insufficientSize && count < 1<<16 {
		infos = make([]processInfo, count+16)
		count = uint32(len(infos))
		result = l.processes(handle, &count, &infos[0])
	}
	if result == notSupported {
		return nil, nil
	}
	if err := l.check("list processes", result); err != nil {
		return nil, err
	}
	use := l.useOf(handle, index)
	var out []gpu.Process
	const unknown = ^uint64(0) // what the driver does not account for
	for _, info := range infos[:min(int(count), len(infos))] {
		process := gpu.Process{PID: int32(info.pid), CoreUsed: use[info.pid]}
		if info.usedMemory != unknown {
			process.MemoryUsed = int64(info.usedMemory)
		}
		out = append(out, process)
	}
	return out, nil
}

// useOf the cores by processes since the last reading, in percent; empty where the driver does not tell.
func (l *Library) useOf(handle device, index int) map[uint32]int64 {
	samples := make([]processUse, 256)
	count := uint32(len(samples))
	if l.processUse(handle, &samples[0], &count, l.since[index]) != success {
		return nil // also when nothing ran
	}
	use, latest := map[uint32]int64{}, map[uint32]uint64{}
	for _, sample := range samples[:min(int(count), len(samples))] {
		if sample.timestamp >= latest[sample.pid] {
			use[sample.pid], latest[sample.pid] = int64(min(sample.sm, 100)), sample.timestamp
		}
		l.since[index] = max(l.since[index], sample.timestamp)
	}
	return use
}

// text until the first zero.
func text(buffer []byte) string {
	before, _, _ := bytes.Cut(buffer, []byte{0})
	return string(before)
}

// busID writes 00000000:3B:00.0 as the kernel does, 0000:3b:00.0.
func busID(nvml string) string {
	id := strings.ToLower(nvml)
	if domain, rest, found := strings.Cut(id, ":"); found && len(domain) == 8 && strings.HasPrefix(domain, "0000") {
		return domain[4:] + ":" + rest
	}
	return id
}

// The library's structures have these sizes.
var _ = [1]struct{}{}[unsafe.Sizeof(processInfo{})-24] // a pid, an amount, two instances
