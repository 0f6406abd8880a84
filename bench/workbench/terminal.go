package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/creack/pty"
	"github.com/prometheus/procfs"

	"koordinator.sh/koord/bench/controlplane"
	"koordinator.sh/koord/bench/process"
)

// screens are the pages that the terminal interface is left alone on, by the command that leads there, and a text that they have once their
// data is there.
var screens = []struct{ name, command, ready string }{
	{"dashboard", "", "node-"},
	{"nodes", ":nodes\r", nodeName(0)},
	{"pods", ":pods all\r", nodeName(0) + "-pod-0"},
}

// settling is what the terminal interface is given to ask all that a screen asks for at first.
const settling = 30 * time.Second

// readyTimeout bounds the wait for a screen's data.
const readyTimeout = 2 * time.Minute

// terminal measures the terminal interface on each of its screens: the first frame, the first with data, and what it costs when nobody types.
func terminal(ctx context.Context, plane *controlplane.ControlPlane, chosen settings) error {
	fmt.Println("| screen | first frame | with data | idle CPU | resident memory | peak |\n| --- | ---: | ---: | ---: | ---: | ---: |")
	for _, screen := range screens {
		if err := measureScreen(ctx, plane, chosen, screen.name, screen.command, screen.ready); err != nil {
			return fmt.Errorf("screen %s: %w", screen.name, err)
		}
	}
	return nil
}

func measureScreen(ctx context.Context, plane *controlplane.ControlPlane, chosen settings, name, command, ready string) (err error) {
	began := time.Now()
	t, err := openTerminal(ctx, plane, chosen.koordctl)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	if err := t.await(ctx, func(output []byte) bool { return len(output) > 0 }); err != nil {
		return err
	}
	first := time.Since(began)
	if command != "" {
		began = time.Now()
		if err := t.enter(command); err != nil {
			return err
		}
	}
	if err := t.await(ctx, func(output []byte) bool { return bytes.Contains(output, []byte(ready)) }); err != nil {
		return err
	}
	data := time.Since(began)
	if _, err := t.idle(ctx, settling); err != nil {
		return err
	}
	idle, err := t.idle(ctx, chosen.idle)
	if err != nil {
		return err
	}
	resident, peak, err := t.memory()
	if err != nil {
		return err
	}
	fmt.Printf("| %s | %d ms | %.2f s | %.1f%% | %.0f MiB | %.0f MiB |\n", name, first.Milliseconds(), data.Seconds(), idle*100, resident, peak)
	return nil
}

// session is koordctl in a pseudo-terminal of 200x60.
type session struct {
	cmd  *exec.Cmd
	file *os.File

	mutex  sync.Mutex
	output []byte
	// done is closed when the terminal has no more to read.
	done chan struct{}
}

func openTerminal(ctx context.Context, plane *controlplane.ControlPlane, koordctl string) (*session, error) {
	cmd := exec.CommandContext(ctx, koordctl, "tui")
	cmd.Env = append(plane.Sandbox.Environ(), "TERM=xterm-256color")
	file, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 60, Cols: 200})
	if err != nil {
		return nil, fmt.Errorf("start koordctl tui in a pseudo-terminal: %w", err)
	}
	t := &session{cmd: cmd, file: file, done: make(chan struct{})}
	go t.read()
	return t, nil
}

// read keeps what is printed until the program ends.
func (t *session) read() {
	defer close(t.done)
	buffer := make([]byte, 64<<10)
	for {
		n, err := t.file.Read(buffer)
		t.mutex.Lock()
		t.output = append(t.output, buffer[:n]...)
		t.mutex.Unlock()
		if err != nil {
			return
		}
	}
}

// enter types, and forgets what was printed before.
func (t *session) enter(keys string) error {
	t.mutex.Lock()
	t.output = nil
	t.mutex.Unlock()
	_, err := t.file.WriteString(keys)
	return err
}

// await waits until what was printed is enough.
func (t *session) await(ctx context.Context, enough func([]byte) bool) error {
	deadline := time.After(readyTimeout)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		t.mutex.Lock()
		output := slices.Clone(t.output)
		t.mutex.Unlock()
		if enough(output) {
			return nil
		}
		select {
		case <-tick.C:
		case <-t.done:
			return fmt.Errorf("koordctl tui ended:\n%q", output[max(0, len(output)-2000):])
		case <-deadline:
			return fmt.Errorf("no data within %s:\n%q", readyTimeout, output[max(0, len(output)-2000):])
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// idle is the share of a CPU that is used while nobody types.
func (t *session) idle(ctx context.Context, duration time.Duration) (float64, error) {
	before, err := process.CPUOf(t.cmd.Process.Pid)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	select {
	case <-time.After(duration):
	case <-t.done:
		return 0, errors.New("koordctl tui ended")
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	after, err := process.CPUOf(t.cmd.Process.Pid)
	return (after - before).Seconds() / time.Since(began).Seconds(), err
}

// memory is the resident memory now, and the most there was, in MiB.
func (t *session) memory() (resident, peak float64, err error) {
	proc, err := procfs.NewProc(t.cmd.Process.Pid)
	if err != nil {
		return 0, 0, err
	}
	status, err := proc.NewStatus()
	return float64(status.VmRSS) / (1 << 20), float64(status.VmHWM) / (1 << 20), err
}

// close quits as a person does, and waits for the end.
func (t *session) close() error {
	_, err := t.file.WriteString("\x03")
	<-t.done
	_ = t.cmd.Wait() // how it ends is not measured
	return errors.Join(err, t.file.Close())
}
