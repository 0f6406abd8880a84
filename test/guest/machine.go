package guest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// emulator is the program that guests run in.
const emulator = "qemu-system-x86_64"

// Topology of every guest, as it finds it: package machine must read from /sys what the emulator was configured to build.
const Topology = "cpus=4 cores=2 sockets=2 nodes=2"

// Disk is where a guest finds an empty disk of DiskSize bytes.
const (
	Disk     = "/dev/nvme0n1"
	DiskSize = 64 << 20
)

// Machine is a guest that was not started yet.
type Machine struct {
	// Kernel, Init and Directory are the kernel's image, the program of package init, and where the guest's files are made.
	Kernel, Init, Directory string
	// Programs are the paths of programs by the name that they have in the guest, in folder programs.
	Programs map[string]string
	Plan     Plan
}

// programs is the guest's folder of programs.
const programs = "/tests"

// Run starts the guest, copies its console until it ends, and fails when the emulator does or the context ends before.
func (m *Machine) Run(ctx context.Context, console io.Writer) error {
	files, disk := filepath.Join(m.Directory, "files.cpio"), filepath.Join(m.Directory, "disk")
	if err := m.pack(files); err != nil {
		return err
	}
	if err := os.WriteFile(disk, nil, 0o600); err != nil {
		return fmt.Errorf("make the guest's disk: %w", err)
	}
	if err := os.Truncate(disk, DiskSize); err != nil {
		return fmt.Errorf("make the guest's disk: %w", err)
	}
	command := exec.CommandContext(ctx, emulator, arguments(m.Kernel, files, disk)...)
	command.Stdout = console
	var problems strings.Builder
	command.Stderr = &problems
	command.WaitDelay = 5 * time.Second
	err := command.Run()
	if ctx.Err() != nil {
		return fmt.Errorf("the guest was killed: %w", context.Cause(ctx))
	}
	if err != nil {
		return fmt.Errorf("run %s: %w: %s", emulator, err, problems.String())
	}
	return nil
}

// arguments of the emulator. Threads that share a core, sockets and NUMA nodes are what the machine below may not have; processors
// of another maker would have no such threads in it.
func arguments(kernel, files, disk string) []string {
	return []string{
		"-machine", "q35", "-accel", "tcg,thread=multi", "-cpu", "max,vendor=GenuineIntel", "-m", "1024", "-nodefaults", "-display", "none", "-no-reboot",
		"-smp", "4,sockets=2,cores=1,threads=2",
		"-object", "memory-backend-ram,id=m0,size=512M", "-object", "memory-backend-ram,id=m1,size=512M",
		"-numa", "node,nodeid=0,memdev=m0,cpus=0-1", "-numa", "node,nodeid=1,memdev=m1,cpus=2-3",
		"-drive", "file=" + disk + ",format=raw,if=none,id=disk", "-device", "nvme,drive=disk,serial=test",
		"-serial", "stdio", "-kernel", kernel, "-initrd", files, "-append", "console=ttyS0 psi=1 panic=-1 oops=panic quiet",
	}
}

// pack writes the archive of the guest's files.
func (m *Machine) pack(at string) (err error) {
	plan, err := json.Marshal(m.Plan)
	if err != nil {
		return fmt.Errorf("write the guest's plan: %w", err)
	}
	out, err := os.Create(at)
	if err != nil {
		return fmt.Errorf("write the guest's files: %w", err)
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	into := &archive{out: out}
	into.directory("dev")
	into.directory(strings.TrimPrefix(programs, "/"))
	into.file(strings.TrimPrefix(PlanFile, "/"), plan)
	for to, from := range m.files() {
		content, err := os.ReadFile(from)
		if err != nil {
			return fmt.Errorf("read a program for the guest: %w", err)
		}
		into.file(strings.TrimPrefix(to, "/"), content)
	}
	return into.close()
}

// files are the programs with init.
func (m *Machine) files() map[string]string {
	files := map[string]string{"/init": m.Init}
	for name, from := range m.Programs {
		files[path.Join(programs, name)] = from
	}
	return files
}
