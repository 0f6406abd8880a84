package integration

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"koordinator.sh/koord/test/sandboxtest"
)

// halves of the tests run side by side, each in a process and a sandbox of its own: tests mostly wait for what the system does
// next, and leave one processor idle.
const halves = 2

// halfVariable is set in the environment of a process that runs one half.
const halfVariable = "KOORD_TEST_HALF"

// namesNone reports whether the command line names no tests, so that all are to be run.
func namesNone() bool {
	for _, name := range []string{"test.run", "test.list", "test.bench", "test.fuzz"} {
		if flag.Lookup(name).Value.String() != "" {
			return false
		}
	}
	return os.Getenv(halfVariable) == ""
}

// runHalves runs every test in one of the halves, and writes what each half has printed when it has ended.
func runHalves(output io.Writer) error {
	if _, err := sandboxtest.Bin(); err != nil {
		return err
	}
	listed, err := exec.Command(os.Args[0], "-test.list=^Test").Output()
	if err != nil {
		return fmt.Errorf("list the tests: %w", err)
	}
	var wait sync.WaitGroup
	var writing sync.Mutex
	failures := make([]error, halves)
	for half := range halves {
		wait.Go(func() {
			command := halfCommand(half, strings.Fields(string(listed)))
			printed, err := command.CombinedOutput()
			writing.Lock()
			defer writing.Unlock()
			if err != nil {
				err = fmt.Errorf("half %d of %d: %w", half+1, halves, err)
			}
			_, writeErr := io.Copy(output, bytes.NewReader(printed))
			failures[half] = errors.Join(err, writeErr)
		})
	}
	wait.Wait()
	return errors.Join(failures...)
}

// halfCommand runs every halves-th of the tests, with the flags of this process.
func halfCommand(half int, tests []string) *exec.Cmd {
	var names []string
	for i, name := range tests {
		if i%halves == half {
			names = append(names, name)
		}
	}
	// What a test reads, of which Go's cache is to know, is recorded in one file by one process.
	args := slices.DeleteFunc(slices.Clone(os.Args[1:]), func(arg string) bool { return strings.HasPrefix(arg, "-test.testlogfile") })
	command := exec.Command(os.Args[0], append(args, "-test.run=^("+strings.Join(names, "|")+")$")...)
	command.Env = append(os.Environ(), fmt.Sprintf("%s=%d", halfVariable, half+1))
	return command
}

func TestHalvesRunEveryTestOnce(t *testing.T) {
	tests := []string{"TestA", "TestB", "TestC"}
	var got []string
	for half := range halves {
		command := halfCommand(half, tests)
		pattern, _ := strings.CutPrefix(command.Args[len(command.Args)-1], "-test.run=^(")
		got = append(got, strings.Split(strings.TrimSuffix(pattern, ")$"), "|")...)
	}
	slices.Sort(got)
	if !slices.Equal(got, tests) {
		t.Errorf("the halves run %v, want %v", got, tests)
	}
}
