// Program init is the first process of a guest: it mounts what tests need, runs the programs of the guest's plan and powers off.
// What it says about them is described in package guest. Tests start it again to work in cgroups, see package work.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"koordinator.sh/koord/test/guest"
	"koordinator.sh/koord/test/livecgroup/work"
)

func main() {
	if work.Asked() {
		work.Main()
	}
	if err := run(); err != nil {
		say(guest.Broken, err)
	} else {
		say(guest.Finished)
	}
	_ = syscall.Reboot(syscall.LINUX_REBOOT_CMD_POWER_OFF) // the first process cannot end in any other way
}

func say(words ...any) { fmt.Print("\n", guest.Marker, fmt.Sprintln(words...)) }

func run() error {
	if os.Getpid() != 1 {
		return errors.New("this program is for the first process of a guest")
	}
	if err := mount(); err != nil {
		return err
	}
	content, err := os.ReadFile(guest.PlanFile)
	if err != nil {
		return fmt.Errorf("read the plan: %w", err)
	}
	var plan guest.Plan
	if err := json.Unmarshal(content, &plan); err != nil {
		return fmt.Errorf("read the plan: %w", err)
	}
	for i, program := range plan.Programs {
		say(guest.Started, i)
		say(guest.Ended, i, execute(program))
	}
	return nil
}

// mount mounts the kernel's own file systems, cgroups of version 2 with all that the kernel controls, and one in memory.
func mount() error {
	for _, m := range []struct{ kind, at string }{
		{"proc", "/proc"}, {"sysfs", "/sys"}, {"devtmpfs", "/dev"}, {"tmpfs", "/tmp"}, {"cgroup2", "/sys/fs/cgroup"},
	} {
		if err := os.MkdirAll(m.at, 0o755); err != nil {
			return err
		}
		if err := syscall.Mount(m.kind, m.at, m.kind, 0, ""); err != nil {
			return fmt.Errorf("mount %s at %s: %w", m.kind, m.at, err)
		}
	}
	return nil
}

// execute runs a program and reports how it ended.
func execute(program guest.Program) string {
	limit := time.Duration(program.Seconds) * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	command := exec.CommandContext(ctx, program.Path, program.Arguments...)
	command.Dir = "/tmp"
	command.Env = append([]string{"PATH=/bin", "HOME=/tmp", "TMPDIR=/tmp"}, program.Environment...)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	err := command.Run()
	switch {
	case ctx.Err() != nil:
		return fmt.Sprintf("killed after %v", limit)
	case err != nil:
		return err.Error()
	}
	return guest.Passed
}
