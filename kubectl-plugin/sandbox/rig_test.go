package sandbox

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/sandbox/control"
	"koordinator.sh/koord/sandbox/pki"
	"koordinator.sh/koord/sandbox/process/processtest"
	"koordinator.sh/koord/sandbox/state"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) {
	processtest.Main(m, processtest.Behaviours{"supervises": func(string) {
		if err := supervise(processtest.Supervised()); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}})
}

// supervise says that the sandbox runs until it is asked to stop.
func supervise(dir state.Dir) error {
	spec, err := dir.ReadSpec()
	if err != nil {
		return err
	}
	if err := writeKubeconfig(dir, spec.Name, 6443); err != nil {
		return err
	}
	return processtest.Supervise(dir, func() *control.Status { return statusOf(dir, spec, control.Running) })
}

func writeKubeconfig(dir state.Dir, name string, port int) error {
	bundle, err := pki.Ensure(dir, time.Now)
	if err != nil {
		return err
	}
	return bundle.WriteKubeconfigs(dir, name, port)
}

// start is when the sandboxes of the tests were started, and now when they are looked at.
var (
	start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	now   = start.Add(90 * time.Minute)
)

func after(seconds float64) *time.Time {
	return new(start.Add(time.Duration(seconds * float64(time.Second))))
}

func statusOf(dir state.Dir, spec state.Spec, phase control.Phase) *control.Status {
	return &control.Status{
		APIVersion: control.StatusAPIVersion, Kind: control.StatusKind, Spec: spec, Phase: phase, PID: 4711, StartedAt: after(0),
		Directory: dir.Path(), Kubeconfig: dir.Kubeconfig(), Context: pki.ContextName(spec.Name), Server: "https://127.0.0.1:6443",
	}
}

// machine is a user's machine: a state directory and its own kubeconfig.
type machine struct {
	home       string
	kubeconfig string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	home := processtest.Home(t)
	m := &machine{home: home, kubeconfig: filepath.Join(home, "kubeconfig")}
	t.Setenv(state.HomeVariable, home)
	t.Setenv("KUBECONFIG", m.kubeconfig)
	return m
}

// add makes a sandbox that was started once.
func (m *machine) add(t *testing.T, spec state.Spec) state.Dir {
	t.Helper()
	dir := state.Open(m.home, spec.Name)
	processtest.Must(t, dir.Create())
	processtest.Must(t, dir.WriteSpec(spec))
	processtest.Must(t, writeKubeconfig(dir, spec.Name, 6443))
	return dir
}

// result is everything a command leaves behind.
type result struct {
	out, errOut string
	err         error
}

// run executes a command line below a root command that is called as kubectl calls a plugin.
func (m *machine) run(ctx context.Context, args ...string) result {
	var out, errOut bytes.Buffer
	root := newRoot(genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &errOut})
	root.SetArgs(append([]string{"sandbox"}, args...))
	err := root.ExecuteContext(ctx)
	clean := func(text string) string { return strings.ReplaceAll(text, m.home, "HOME") }
	return result{out: clean(out.String()), errOut: clean(errOut.String()), err: err}
}

func newRoot(streams genericiooptions.IOStreams) *cobra.Command {
	root := &cobra.Command{
		Use: "kubectl-koord", Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl koord"},
		SilenceErrors: true, SilenceUsage: true,
	}
	root.SetOut(streams.Out)
	root.SetErr(streams.ErrOut)
	root.AddCommand(NewCommand(streams, untranslated))
	return root
}

// untranslated is what a reader of English is told.
func untranslated(text string) string { return text }

// english is the console of such a reader, with both streams in one.
func english(w io.Writer) *console {
	return &console{IOStreams: genericiooptions.IOStreams{Out: w, ErrOut: w}, say: untranslated}
}

// text of a result, as a golden file holds it.
func (r result) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "-- out --\n%s-- err --\n%s", r.out, r.errOut)
	if r.err != nil {
		fmt.Fprintf(&b, "-- error --\n%v\n", r.err)
		if found, ok := finding.From(r.err); ok {
			fmt.Fprintf(&b, "hint: %s\n%s\n", found.Hint, found.Code)
		}
		var coded interface{ ExitCode() int }
		if errors.As(r.err, &coded) {
			fmt.Fprintf(&b, "exit code %d\n", coded.ExitCode())
		}
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *update {
		processtest.Must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		processtest.Must(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (-update writes it)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}
