// Package gpu reads GPUs through their vendor's library. The library runs in a separate process, which answers with JSON: a driver that
// crashes or hangs does not affect the agent, and the agent needs no dynamic linker.
package gpu

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// maxDevices bounds how many GPUs a machine has.
const maxDevices = 64

// Reading is all GPUs of a machine.
type Reading struct {
	// Driver version.
	Driver  string   `json:"driver,omitempty"`
	Devices []Device `json:"devices"`
}

// Device is one GPU.
type Device struct {
	Minor int32  `json:"minor"`
	UUID  string `json:"uuid"`
	Model string `json:"model,omitempty"`
	// BusID is domain:bus:device.function as the kernel writes it.
	BusID string `json:"busID,omitempty"`
	// MemoryTotal and MemoryUsed in bytes, CoreUsed in percent of the GPU.
	MemoryTotal int64 `json:"memoryTotal,omitempty"`
	MemoryUsed  int64 `json:"memoryUsed,omitempty"`
	CoreUsed    int64 `json:"coreUsed,omitempty"`
	// Processes on the GPU.
	Processes []Process `json:"processes,omitempty"`
	// Problem says why the GPU cannot be used; empty for one that is healthy.
	Problem string `json:"problem,omitempty"`
}

// Process uses a GPU.
type Process struct {
	PID int32 `json:"pid"`
	// MemoryUsed in bytes, CoreUsed in percent of the GPU.
	MemoryUsed int64 `json:"memoryUsed,omitempty"`
	CoreUsed   int64 `json:"coreUsed,omitempty"`
}

// Library is what is asked of a maker's library. One goroutine at a time may use it.
type Library interface {
	// Driver version.
	Driver() (string, error)
	// Count of the GPUs, which have the indexes below it.
	Count() (int, error)
	// Describe returns what identifies a GPU and does not change.
	Describe(index int) (Device, error)
	// Use adds what a GPU does at the moment.
	Use(index int, to *Device) error
}

// Read asks a library for everything. A GPU that does not answer is reported as unhealthy, under the identity that was known of it; it
// is healthy again as soon as it answers.
func Read(library Library, known []Device) (Reading, error) {
	count, err := library.Count()
	if err != nil {
		return Reading{}, fmt.Errorf("count GPUs: %w", err)
	}
	if count < 0 || count > maxDevices {
		return Reading{}, fmt.Errorf("count GPUs: there are %d, more than %d", count, maxDevices)
	}
	out := Reading{Devices: make([]Device, 0, count)}
	out.Driver, err = library.Driver()
	problems := []error{err}
	for index := range count {
		device, err := library.Describe(index)
		if err == nil {
			err = library.Use(index, &device)
		}
		if err != nil && device.UUID == "" {
			problems = append(problems, fmt.Errorf("GPU %d: %w", index, err))
			continue
		}
		if err != nil {
			device.Problem = err.Error()
		}
		out.Devices = append(out.Devices, device)
	}
	for _, device := range known {
		if !slices.ContainsFunc(out.Devices, func(d Device) bool { return d.UUID == device.UUID }) {
			device.Problem, device.MemoryUsed, device.CoreUsed, device.Processes = "the driver does not see it any more", 0, 0, nil
			out.Devices = append(out.Devices, device)
		}
	}
	slices.SortFunc(out.Devices, func(a, b Device) int { return cmp.Or(cmp.Compare(a.Minor, b.Minor), cmp.Compare(a.UUID, b.UUID)) })
	return out, errors.Join(problems...)
}
