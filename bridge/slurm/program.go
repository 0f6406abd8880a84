package slurm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// mostOutput bounds what a program may print; a node of scontrol is less than 2 KiB.
const mostOutput = 64 << 20

// commands runs Slurm's programs, which find their controllers, and the next one where one is down, by slurm.conf.
type commands struct {
	// conf is the path of slurm.conf; empty for the default of the programs.
	conf    string
	timeout time.Duration
}

// run runs a program and returns what it printed.
func (c commands) run(ctx context.Context, program string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	command := exec.CommandContext(ctx, program, args...)
	command.WaitDelay = time.Second
	command.Env = append(os.Environ(), "LC_ALL=C")
	if c.conf != "" {
		command.Env = append(command.Env, "SLURM_CONF="+c.conf)
	}
	out, complaint := &bounded{most: mostOutput}, &bounded{most: 4 << 10}
	command.Stdout, command.Stderr = out, complaint
	err := command.Run()
	switch {
	case out.full:
		return "", fmt.Errorf("%s %s: printed more than %d MiB", program, args[0], mostOutput>>20)
	case ctx.Err() != nil:
		return "", fmt.Errorf("%s %s: no answer within %v: %w", program, args[0], c.timeout, ctx.Err())
	case err != nil:
		return "", errors.Join(fmt.Errorf("%s %s: %w", program, strings.Join(args, " "), err), complaint.asError())
	}
	return out.kept.String(), nil
}

// bounded keeps the first bytes of what is written. The buffer is not embedded: its ReadFrom would go past Write.
type bounded struct {
	kept bytes.Buffer
	most int
	full bool
}

var errFull = errors.New("no more is kept")

// Write keeps what fits, and fails once something does not, which ends the program.
func (b *bounded) Write(p []byte) (int, error) {
	room := b.most - b.kept.Len()
	if len(p) <= room {
		return b.kept.Write(p)
	}
	b.full = true
	b.kept.Write(p[:room])
	return room, errFull
}

func (b *bounded) asError() error {
	if text := strings.TrimSpace(b.kept.String()); text != "" {
		return errors.New(text)
	}
	return nil
}
