// Package sandboxtest starts sandboxes for tests: the programs as a user runs them, in a state directory and with a
// kubeconfig of the test's own.
package sandboxtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// BinVariable names the environment variable with the directory of the built programs; `make test` sets it.
const BinVariable = "KOORD_TEST_BIN"

// Bin returns the directory of the built programs: $KOORD_TEST_BIN, or bin/ of this repository.
func Bin() (string, error) {
	if dir := os.Getenv(BinVariable); dir != "" {
		return dir, nil
	}
	dir, err := filepath.Abs("../../bin")
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(filepath.Join(dir, "koordctl")); err != nil {
		return "", fmt.Errorf("find the built programs: %w (run: make build)", err)
	}
	return dir, nil
}

// Sandbox is one sandbox of a test.
type Sandbox struct {
	// Name of the sandbox.
	Name string
	// Home is its state directory.
	Home string
	// Kubeconfig is the user's kubeconfig that `sandbox up` writes its context into.
	Kubeconfig string

	bin string
}

// New returns a sandbox that is not started yet. home is a directory of the test's own; its path should be short.
func New(name, home string) (*Sandbox, error) {
	bin, err := Bin()
	if err != nil {
		return nil, err
	}
	return &Sandbox{Name: name, Home: home, Kubeconfig: filepath.Join(home, "kubeconfig"), bin: bin}, nil
}

// Result is what one command did.
type Result struct {
	Stdout, Stderr string
	Code           int
}

// Environ is the environment that the sandbox's commands run in.
func (s *Sandbox) Environ() []string {
	return append(os.Environ(), "KOORD_STATE_HOME="+s.Home, "KUBECONFIG="+s.Kubeconfig, "NO_COLOR=1", "LANG=C.UTF-8", "COLUMNS=")
}

// Program is the path of one of the built programs.
func (s *Sandbox) Program(name string) string { return filepath.Join(s.bin, name) }

// Koordctl runs koordctl with the sandbox's state directory and kubeconfig.
func (s *Sandbox) Koordctl(ctx context.Context, args ...string) (Result, error) {
	return s.Run(ctx, "", s.Program("koordctl"), args...)
}

// outputDelay is how long a program that was ended may leave its output open to its children.
const outputDelay = 5 * time.Second

// Run runs a program in the sandbox's environment. An exit code other than 0 is no error.
func (s *Sandbox) Run(ctx context.Context, stdin, program string, args ...string) (Result, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = s.Environ()
	cmd.Stdin = bytes.NewBufferString(stdin)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = outputDelay
	err := cmd.Run()
	result := Result{Stdout: stdout.String(), Stderr: stderr.String(), Code: cmd.ProcessState.ExitCode()}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return result, nil
	}
	return result, err
}

// Up starts the sandbox with further flags of `sandbox up`.
func (s *Sandbox) Up(ctx context.Context, flags ...string) error {
	result, err := s.Koordctl(ctx, append([]string{"sandbox", "up", "--name", s.Name}, flags...)...)
	if err == nil && result.Code != 0 {
		err = fmt.Errorf("sandbox up: exit code %d\n%s%s%s", result.Code, result.Stdout, result.Stderr, s.tails())
	}
	return err
}

// tails returns the ends of the components' logs, for a failure that cannot be looked at later.
func (s *Sandbox) tails() string {
	const keep = 2000
	files, _ := filepath.Glob(filepath.Join(s.Home, "sandboxes", s.Name, "logs", "*.log")) // the pattern is constant
	var b bytes.Buffer
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		fmt.Fprintf(&b, "== %s\n%s\n", filepath.Base(file), data[max(0, len(data)-keep):])
	}
	return b.String()
}

// Down stops the sandbox and deletes its data.
func (s *Sandbox) Down(ctx context.Context) error {
	result, err := s.Koordctl(ctx, "sandbox", "down", "--name", s.Name, "--purge")
	if err == nil && result.Code != 0 {
		err = fmt.Errorf("sandbox down: exit code %d\n%s%s", result.Code, result.Stdout, result.Stderr)
	}
	return err
}

// Directory is where the sandbox keeps its files.
func (s *Sandbox) Directory() string { return filepath.Join(s.Home, "sandboxes", s.Name) }

// Config returns a client configuration of the sandbox's administrator.
func (s *Sandbox) Config() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(s.Directory(), "kubeconfig"))
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = 200, 400
	return config, nil
}

// Clients returns typed and dynamic clients of the sandbox's administrator.
func (s *Sandbox) Clients() (kubernetes.Interface, dynamic.Interface, error) {
	config, err := s.Config()
	if err != nil {
		return nil, nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, nil, err
	}
	dynamicClient, err := dynamic.NewForConfig(config)
	return client, dynamicClient, err
}

// Eventually polls until check returns nil, and fails the test with its last error after the deadline.
func Eventually(t testing.TB, within time.Duration, check func() error) {
	t.Helper()
	deadline := time.Now().Add(within)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %v", within, err)
		}
		<-tick.C
	}
}

// Created polls until create, which creates one object, returns nil. The answer to a try may be lost after the object was stored, so that
// the next try finds it there: that it exists is success once a try has failed without an answer that rules this out.
func Created(t testing.TB, within time.Duration, create func() error) {
	t.Helper()
	unsure := false
	Eventually(t, within, func() error {
		err := create()
		switch {
		case apierrors.IsAlreadyExists(err) && unsure:
			return nil
		case err != nil && !apierrors.IsAlreadyExists(err) && !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err) && !apierrors.IsNotFound(err):
			unsure = true
		}
		return err
	})
}
