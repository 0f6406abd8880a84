package koordlet

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/agent/connection"
	"koordinator.sh/koord/agent/host"
	"koordinator.sh/koord/agent/host/device"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/host/gpu"
	"koordinator.sh/koord/agent/host/process"
	"koordinator.sh/koord/agent/report"
	"koordinator.sh/koord/agent/state"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

const (
	// devicesInterval is how often the devices are read.
	devicesInterval = 10 * time.Second
	// resyncInterval is how often the cluster is asked what its Device says, which no other component should change.
	resyncInterval = 5 * time.Minute
	// gpuReader is the program that reads GPUs, beside the agent's.
	gpuReader = "koord-nvml"
)

// devices keeps the node's Device, and what is used of GPUs.
type devices struct {
	options    *Options
	cluster    *state.State
	host       host.Host
	proc       files.FS
	writer     *report.DeviceWriter
	probe      gpu.Probe
	resyncedAt time.Time
	// errors is what was not reported last.
	errors errorLog

	mu sync.Mutex
	// reading of the GPUs, which pods have which processes, and when that was read.
	reading gpu.Reading
	pods    map[int32]types.UID
	read    time.Time
	// reports is what was found at the latest reading, by gate.
	reports map[string]deviceReport
}

// deviceReport is what came of reporting the devices of one gate.
type deviceReport struct {
	found   int
	problem error
}

func newDevices(options *Options, clients *connection.Clients, cluster *state.State, host host.Host, proc files.FS) *devices {
	return &devices{options: options, cluster: cluster, host: host, proc: proc, writer: report.NewDeviceWriter(clients.SchedulingWrites), probe: gpu.Probe{Program: options.gpuReader()}}
}

// run reports until the context ends; it does nothing while no gate is on.
func (d *devices) run(ctx context.Context) {
	if !d.options.isOn(&nodefeature.Accelerators) && !d.options.isOn(&nodefeature.RDMADevices) {
		return
	}
	defer d.probe.Close()
	ticker := d.options.Clock.NewTicker(devicesInterval)
	defer ticker.Stop()
	for {
		if node := d.cluster.Node(); node != nil {
			d.errors.Report(ctx, d.write(ctx, report.TopologyNodeOf(node)), d.options.Clock.Now(), "Failed to report some devices, will retry")
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
		}
	}
}

// write brings the Device up to date. What cannot be read is an error, and while anything of a kind cannot be listed at all the object
// stays as it is: a device that is not mentioned is one that pods lose.
func (d *devices) write(ctx context.Context, node report.TopologyNode) error {
	machine, err := d.host.Topology(ctx)
	if err != nil {
		return err
	}
	in := report.DeviceInput{Node: node}
	var problems []error
	if d.options.isOn(&nodefeature.Accelerators) {
		found, driver, err := d.accelerators(ctx, machine)
		d.report(nodefeature.Accelerators.Name, len(found), err)
		if err != nil && len(found) == 0 {
			return err
		}
		in.Devices, in.Driver = append(in.Devices, found...), driver
		problems = append(problems, err)
	}
	if d.options.isOn(&nodefeature.RDMADevices) {
		found, err := device.RDMA(d.options.Sys, machine)
		d.report(nodefeature.RDMADevices.Name, len(found), err)
		if err != nil {
			return errors.Join(append(problems, err)...)
		}
		in.Devices = append(in.Devices, found...)
	}
	if now := d.options.Clock.Now(); now.Sub(d.resyncedAt) > resyncInterval {
		d.writer.Forget()
		d.resyncedAt = now
	}
	if _, err = d.writer.Write(ctx, report.Device(in)); err != nil {
		d.addProblem(err)
	}
	return errors.Join(append(problems, err)...)
}

// report records what was found for a gate.
func (d *devices) report(gate string, found int, problem error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.reports == nil {
		d.reports = map[string]deviceReport{}
	}
	d.reports[gate] = deviceReport{found, problem}
}

// addProblem records that the Device could not be written.
func (d *devices) addProblem(problem error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for gate, report := range d.reports {
		report.problem = errors.Join(report.problem, problem)
		d.reports[gate] = report
	}
}

// reported is what came of reporting for a gate; false while nothing was read.
func (d *devices) reported(gate string) (deviceReport, bool) {
	if d == nil {
		return deviceReport{}, false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	report, read := d.reports[gate]
	return report, read
}

// accelerators are those that another daemon wrote down, or else NVIDIA's. A machine that has not loaded the driver has none.
func (d *devices) accelerators(ctx context.Context, machine host.Topology) ([]schedulingv1alpha1.DeviceInfo, string, error) {
	found, err := device.XPUs(d.options.AcceleratorDirectory, machine)
	if len(found) > 0 || err != nil {
		return found, "", err
	}
	if !d.proc.Exists(nvidiaVersion) {
		return nil, "", nil
	}
	reading, err := d.probe.Ask(ctx)
	if err != nil && len(reading.Devices) == 0 {
		d.keep(gpu.Reading{}, nil)
		return nil, "", err
	}
	d.keep(reading, d.owners(reading))
	return device.GPUs(reading, d.options.Sys, machine), reading.Driver, err
}

func (d *devices) keep(reading gpu.Reading, pods map[int32]types.UID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reading, d.pods, d.read = reading, pods, d.options.Clock.Now()
}

// owners finds the pods of processes on GPUs.
func (d *devices) owners(reading gpu.Reading) map[int32]types.UID {
	out := map[int32]types.UID{}
	for _, g := range reading.Devices {
		for _, user := range g.Processes {
			if uid, found := process.PodOf(d.proc, d.options.layout, int(user.PID)); found {
				out[user.PID] = uid
			}
		}
	}
	return out
}

// used is what is used of GPUs: by all, and by each pod. A reading that is too old is not reported.
func (d *devices) used(now time.Time) ([]schedulingv1alpha1.DeviceInfo, func(types.UID) []schedulingv1alpha1.DeviceInfo) {
	d.mu.Lock()
	defer d.mu.Unlock()
	reading, pods := d.reading, d.pods
	if now.Sub(d.read) > 3*devicesInterval || len(reading.Devices) == 0 {
		return nil, nil
	}
	return device.Used(reading), func(uid types.UID) []schedulingv1alpha1.DeviceInfo {
		return device.UsedBy(reading, func(pid int32) bool { return pods[pid] == uid })
	}
}
