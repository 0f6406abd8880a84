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
// data is there. In a list, keys move the selection.
var screens = []screen{
	{"dashboard", "", "node-", false},
	{"nodes", ":nodes\r", nodeName(0), true},
	{"pods", ":pods all\r", nodeName(0) + "-pod-0", true},
}

type screen struct {
	name, command, ready string
	list                 bool
}

// settling is what the terminal interface is given to ask all that a screen asks for at first.
const settling = 30 * time.Second

// readyTimeout bounds the wait for a screen's data.
const readyTimeout = 2 * time.Minute

// terminal measures the terminal interface on each of its screens: the first frame, the first with data, and what it costs when nobody types.
func terminal(ctx context.Context, plane *controlplane.ControlPlane, chosen settings) error {
	fmt.Println("| screen | first frame | with data | key to frame, p50 | p99 | idle CPU | resident memory | peak |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	for _, s := range screens {
		if !chosen.measures(s.name) {
			continue
		}
		if err := measureScreen(ctx, plane, chosen, s); err != nil {
			return fmt.Errorf("screen %s: %w", s.name, err)
		}
	}
	return nil
}

func measureScreen(ctx context.Context, plane *controlplane.ControlPlane, chosen settings, s screen) (err error) {
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
	if s.command != "" {
		began = time.Now()
		if err := t.enter(s.command); err != nil {
			return err
		}
	}
	if err := t.await(ctx, func(output []byte) bool { return bytes.Contains(output, []byte(s.ready)) }); err != nil {
		return err
	}
	data := time.Since(began)
	if _, err := t.idle(ctx, settling); err != nil {
		return err
	}
	frames := "- | -"
	if s.list {
		if frames, err = t.frames(ctx); err != nil {
			return err
		}
	}
	idle, err := t.idle(ctx, chosen.idle)
	if err != nil {
		return err
	}
	resident, peak, err := t.memory()
	if err != nil {
		return err
	}
	fmt.Printf("| %s | %d ms | %.2f s | %s | %.1f%% | %.0f MiB | %.0f MiB |\n", s.name, first.Milliseconds(), data.Seconds(), frames, idle*100, resident, peak)
	return nil
}

// session is koordctl in a pseudo-terminal of 200x60.
type session struct {
	cmd  *exec.Cmd
	file *os.File

	mutex  sync.Mutex
	output []byte
	// drawn is when the first of the output came.
	drawn time.Time
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
		if len(t.output) == 0 {
			t.drawn = time.Now()
		}
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

const (
	// keys are typed one after the other, each this long after the frame of the one before, which is not in step with anything that the
	// program does by itself.
	keys, keyPause = 300, 53 * time.Millisecond
	// down and up move the selection of a list.
	down, up = "j", "k"
)

// frames are the median and the p99 of the times from a key to the first of what is drawn for it, as cells of the table.
func (t *session) frames(ctx context.Context) (string, error) {
	times := make([]time.Duration, keys)
	for i := range times {
		key := down
		if i%2 == 1 {
			key = up
		}
		if _, err := t.idle(ctx, keyPause); err != nil {
			return "", err
		}
		began := time.Now()
		if err := t.enter(key); err != nil {
			return "", err
		}
		if err := t.await(ctx, func(output []byte) bool { return len(output) > 0 }); err != nil {
			return "", fmt.Errorf("key %q: %w", key, err)
		}
		t.mutex.Lock()
		times[i] = t.drawn.Sub(began)
		t.mutex.Unlock()
	}
	slices.Sort(times)
	return fmt.Sprintf("%.1f ms | %.1f ms", milliseconds(times[len(times)/2]), milliseconds(times[len(times)*99/100])), nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

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
