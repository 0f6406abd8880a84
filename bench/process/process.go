// Package process runs programs that are to be measured, and reads what the kernel says of them.
package process

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
)

// Process is a program that runs. Its methods are safe for concurrent use, but for Stop, which is called once.
type Process struct {
	name, log string
	cmd       *exec.Cmd
}

// Start runs a program with its output in a log file. It is killed when ctx ends; Stop ends it gracefully.
func Start(ctx context.Context, name, log, program string, args ...string) (*Process, error) {
	output, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer func() { _ = output.Close() }() // the child has its own
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stdout, cmd.Stderr = output, output
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return &Process{name: name, log: log, cmd: cmd}, nil
}

// Stop asks the program to end and waits until it has. A program that ended before is an error: what was measured of it
// is not worth anything.
func (p *Process) Stop() error {
	signalled := p.cmd.Process.Signal(syscall.SIGTERM)
	_ = p.cmd.Wait() // killed by a signal is how it should end
	if signalled != nil {
		return fmt.Errorf("stop %s: %w\n%s", p.name, signalled, p.Tail())
	}
	return nil
}

// CPU is the processor time used so far, in steps of 10 ms.
func (p *Process) CPU() (time.Duration, error) {
	used, err := CPUOf(p.cmd.Process.Pid)
	if err != nil {
		return 0, fmt.Errorf("%s: %w\n%s", p.name, err, p.Tail())
	}
	return used, nil
}

// CPUOf is the processor time that a process has used so far, in steps of 10 ms.
func CPUOf(pid int) (time.Duration, error) {
	proc, err := procfs.NewProc(pid)
	if err != nil {
		return 0, fmt.Errorf("find process %d: %w", pid, err)
	}
	stat, err := proc.Stat()
	if err != nil {
		return 0, fmt.Errorf("read the processor time of process %d: %w", pid, err)
	}
	return time.Duration(stat.CPUTime() * float64(time.Second)), nil
}

// PeakMiB is the largest resident set so far.
func (p *Process) PeakMiB() (float64, error) {
	return p.read(func(proc procfs.Proc) (float64, error) {
		status, err := proc.NewStatus()
		return float64(status.VmHWM) / (1 << 20), err
	})
}

// ProportionalMiB is the proportional set size of this moment: private pages, and the process's part of the shared ones.
func (p *Process) ProportionalMiB() (float64, error) {
	return p.read(func(proc procfs.Proc) (float64, error) {
		rollup, err := proc.ProcSMapsRollup()
		return float64(rollup.Pss) / (1 << 20), err
	})
}

func (p *Process) read(value func(procfs.Proc) (float64, error)) (float64, error) {
	proc, err := procfs.NewProc(p.cmd.Process.Pid)
	if err == nil {
		var read float64
		if read, err = value(proc); err == nil {
			return read, nil
		}
	}
	return 0, fmt.Errorf("read the process of %s: %w\n%s", p.name, err, p.Tail())
}

// Tail is the end of the log, for errors.
func (p *Process) Tail() string {
	const keep = 3000
	data, err := os.ReadFile(p.log)
	if err != nil {
		return ""
	}
	return string(data[max(0, len(data)-keep):])
}

// FreePort finds a port on loopback that nothing listens on.
func FreePort() (int, error) {
	ports, err := FreePorts(1)
	if err != nil {
		return 0, err
	}
	return ports[0], nil
}

// FreePorts finds several different ones.
func FreePorts(count int) (ports []int, err error) {
	for range count {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer func() { _ = listener.Close() }() // open until all are found, so that none is found twice
		address, ok := listener.Addr().(*net.TCPAddr)
		if !ok {
			return nil, errors.New("a TCP listener has no TCP address")
		}
		ports = append(ports, address.Port)
	}
	return ports, nil
}
