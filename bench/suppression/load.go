package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	"koordinator.sh/koord/sandbox/cgrouptree"
)

// burn uses so many CPUs from when it reads 'b' until it reads 's', and ends with its input.
func burn(cpus int, switches io.Reader) {
	runtime.GOMAXPROCS(cpus + 1)
	var on atomic.Bool
	wake := make([]chan struct{}, cpus)
	for i := range wake {
		wake[i] = make(chan struct{}, 1)
		go func() {
			for range wake[i] {
				for on.Load() {
				}
			}
		}()
	}
	one := make([]byte, 1)
	for {
		if _, err := switches.Read(one); err != nil {
			return
		}
		on.Store(one[0] == 'b')
		for _, w := range wake {
			select {
			case w <- struct{}{}:
			default:
			}
		}
	}
}

// load is a process that burns CPUs on command.
type load struct {
	process *exec.Cmd
	input   io.WriteCloser
}

// startLoad starts a load in a cgroup, which is silent at first.
func startLoad(cpus int, groups *cgrouptree.Tree, at string) (*load, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	process := exec.Command(program, "-load", strconv.Itoa(cpus))
	input, err := process.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := process.Start(); err != nil {
		return nil, fmt.Errorf("start a load: %w", err)
	}
	out := &load{process: process, input: input}
	if err := groups.Enter(at, process.Process.Pid); err != nil {
		return nil, errors.Join(err, out.end())
	}
	return out, nil
}

// burn starts the load and returns the time at which the command was sent.
func (l *load) burn() (time.Time, error) {
	at := time.Now()
	_, err := l.input.Write([]byte("b"))
	return at, err
}

func (l *load) rest() error {
	_, err := l.input.Write([]byte("s"))
	return err
}

func (l *load) end() error {
	_ = l.input.Close()          // the process may have ended
	_ = l.process.Process.Kill() // as above
	_ = l.process.Wait()         // it was killed
	return nil
}
