package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/tools/clientcmd"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/sandbox/control"
	"koordinator.sh/koord/sandbox/launch"
	"koordinator.sh/koord/sandbox/process/processtest"
	"koordinator.sh/koord/sandbox/state"
)

// TestTheLifeOfASandbox starts, starts again, stops, starts, and deletes a sandbox whose supervisor is played by the
// test's program.
func TestTheLifeOfASandbox(t *testing.T) {
	m := newMachine(t)
	t.Setenv("PATH", processtest.Programs(t, "koord-sandbox", "koord-scheduler", "koord-manager", "koord-descheduler"))
	processtest.Play(t, "supervises")
	lines := []string{
		"up --name demo --nodes 12",
		"up --name demo --nodes 12",
		"up --name demo",
		"up --name demo --nodes 3 --seed 2",
		"list",
		"down --name demo",
		"status --name demo",
		"up --name demo",
		"down --name demo --purge",
		"list",
	}
	t.Cleanup(func() {
		_ = launch.Sandbox{Name: "demo", Dir: state.Open(m.home, "demo")}.Stop(t.Context()) // where the test ended early
	})
	duration := regexp.MustCompile(`nodes, [0-9.]+m?s\)`)
	var b strings.Builder
	for _, line := range lines {
		b.WriteString("$ kubectl koord sandbox " + line + "\n")
		b.WriteString(duration.ReplaceAllString(m.run(t.Context(), strings.Fields(line)...).text(), "nodes, TIME)"))
	}
	golden(t, "life", b.String())
	if config := load(t, m.kubeconfig); len(config.Contexts) != 0 || config.CurrentContext != "" {
		t.Errorf("contexts in the end: %v, current %q; want none", config.Contexts, config.CurrentContext)
	}
	if names, err := state.List(m.home); err != nil || names != nil {
		t.Errorf("sandboxes in the end: %v, %v; want none", names, err)
	}
}

// TestSeveralStartASandboxAtOnce: the first decides what the sandbox is, and the others find it as it is.
func TestSeveralStartASandboxAtOnce(t *testing.T) {
	m := newMachine(t)
	t.Setenv("PATH", processtest.Programs(t, "koord-sandbox", "koord-scheduler", "koord-manager", "koord-descheduler"))
	processtest.Play(t, "supervises")
	t.Cleanup(func() {
		got := m.run(context.WithoutCancel(t.Context()), "down", "--name", "demo", "--purge")
		processtest.Must(t, got.err)
	})
	results := make([]result, 6)
	var group sync.WaitGroup
	for i := range results {
		group.Go(func() { results[i] = m.run(t.Context(), "up", "--name", "demo", "--nodes", strconv.Itoa(i+1)) })
	}
	group.Wait()
	spec, err := state.Open(m.home, "demo").ReadSpec()
	processtest.Must(t, err)
	nodes := fmt.Sprintf("(%d nodes, ", spec.Nodes)
	starts := 0
	for i, got := range results {
		first := strings.HasPrefix(got.out, "sandbox/demo is up ")
		if first {
			starts++
		}
		if got.err != nil || !strings.Contains(got.out, nodes) || first != (spec.Nodes == i+1) {
			t.Errorf("up --nodes %d, where %d won = %+v", i+1, spec.Nodes, got)
		}
	}
	if starts != 1 {
		t.Errorf("%d of them started it; want one", starts)
	}
}

func TestUpOfWhatIsThereAlready(t *testing.T) {
	phases := map[string][]control.Phase{
		"up-running":  {control.Running},
		"up-starting": {control.Starting, control.Starting, control.Running},
	}
	for name, seen := range phases {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			processtest.Must(t, clientcmd.WriteToFile(*userConfig(ofWork), m.kubeconfig))
			dir := m.add(t, demo)
			var statuses []*control.Status
			for _, phase := range seen {
				statuses = append(statuses, statusOf(dir, demo, phase))
			}
			processtest.Answer(t, dir, statuses...)
			got := m.run(t.Context(), "up", "--name", "demo")
			golden(t, name, regexp.MustCompile(`nodes, [0-9.]+m?s\)`).ReplaceAllString(got.text(), "nodes, TIME)"))
			if config := load(t, m.kubeconfig); config.Contexts[ofDemo] == nil || config.CurrentContext != ofWork {
				t.Errorf("contexts %v, current %q; want the sandbox's added and the user's kept", config.Contexts, config.CurrentContext)
			}
		})
	}
}

// TestUpAfterAFailure finds a sandbox that had failed, or is going down, and has no programs to start it again with.
func TestUpAfterAFailure(t *testing.T) {
	for phase, want := range map[control.Phase]string{
		control.Failed:   "Sandbox \"demo\" had failed (no room); starting it again.\n",
		control.Stopping: "Sandbox \"demo\" is stopping; starting it again.\n",
	} {
		t.Run(string(phase), func(t *testing.T) {
			m := newMachine(t)
			t.Setenv("PATH", t.TempDir())
			dir := m.add(t, demo)
			status := statusOf(dir, demo, phase)
			status.Message = "no room"
			processtest.Answer(t, dir, status)
			got := m.run(t.Context(), "up", "--name", "demo")
			if found, ok := finding.From(got.err); got.errOut != want || !ok || found.Code != finding.SandboxBinariesMissing {
				t.Errorf("up = %v, %q; want %q, then a start without programs", got.err, got.errOut, want)
			}
			if _, err := os.Stat(control.SocketPath(dir)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the old supervisor's socket: %v; want that it was cleared away", err)
			}
		})
	}
}

func TestUpIsInterrupted(t *testing.T) {
	var errOut bytes.Buffer
	o := &upOptions{console: console{IOStreams: genericiooptions.IOStreams{Out: &bytes.Buffer{}, ErrOut: &errOut}, say: untranslated}}
	m := newMachine(t)
	dir := m.add(t, demo)
	status := statusOf(dir, demo, control.Starting)
	status.Steps = []control.Step{step("wait for etcd", "", control.Running, 0, 0)}
	processtest.Answer(t, dir, status)
	sandbox := launch.Sandbox{Name: "demo", Dir: dir, Program: "kubectl koord"}
	ctx, cancel := context.WithCancel(t.Context())
	looks := 0
	clock := func() time.Time { // is asked at every look at the sandbox
		if looks++; looks == 4 {
			cancel()
		}
		return start
	}
	err := o.follow(ctx, sandbox, o.newProgress(false, clock))
	const want = "The sandbox is still starting; see: kubectl koord sandbox status --name demo, kubectl koord sandbox down --name demo\n"
	if !interrupted(err) || errOut.String() != want {
		t.Errorf("follow() = %v, %q; want that it was interrupted, and %q", err, errOut.String(), want)
	}
}

func TestUpKeepsTheOptionsOfBefore(t *testing.T) {
	usual := state.Spec{Name: "demo", Nodes: 30, Scenario: "colocation", Seed: 1, Speed: 1}
	recorded := state.Spec{Name: "demo", Nodes: 100, Scenario: "colocation", Trace: "/data", Seed: 7, Speed: 60, APIServerPort: 6443, KubernetesBinaries: "/k8s", Binaries: "/old"}
	bare := state.Spec{Name: "demo", KubernetesOnly: true, Seed: 1, Speed: 1}
	quiet := state.Spec{Name: "demo", Nodes: 5, Seed: 1, Speed: 1}
	with := func(s state.Spec, change func(*state.Spec)) state.Spec { change(&s); return s }
	machine, err := thisNode()
	processtest.Must(t, err)
	real := with(usual, func(s *state.Spec) { s.RealNode = machine })
	renamed := with(real, func(s *state.Spec) { s.RealNode = machine + "-before" })
	tests := map[string]struct {
		before *state.Spec
		flags  string
		want   state.Spec
	}{
		"the first start":                   {nil, "", usual},
		"the first start without workloads": {nil, "--scenario none", with(usual, func(s *state.Spec) { s.Scenario = "" })},
		"the first start without nodes":     {nil, "--nodes 0", with(usual, func(s *state.Spec) { s.Nodes, s.Scenario = 0, "" })},
		"the first start of a control plane": {
			nil, "--kubernetes-only", with(usual, func(s *state.Spec) { s.KubernetesOnly, s.Scenario = true, "" }),
		},
		"everything is kept":            {&recorded, "", with(recorded, func(s *state.Spec) { s.Binaries = "" })},
		"flags change what they name":   {&recorded, "--nodes 7 --speed 1", with(recorded, func(s *state.Spec) { s.Nodes, s.Speed, s.Binaries = 7, 1, "" })},
		"a bare control plane stays so": {&bare, "", bare},
		"no workloads stay none":        {&quiet, "", quiet},
		"a bare one becomes a whole system": {
			&bare, "--kubernetes-only=false --nodes 30", usual,
		},
		"a whole system becomes a bare one": {
			&recorded, "--kubernetes-only --nodes 0",
			with(recorded, func(s *state.Spec) { s.KubernetesOnly, s.Nodes, s.Scenario, s.Trace, s.Binaries = true, 0, "", "", "" }),
		},
		"this machine becomes a node": {nil, "--real-node", real},
		"it stays one":                {&real, "", real},
		"it was one under another name, and is one under its own": {
			&renamed, "", real,
		},
		"it is one no longer": {&real, "--real-node=false", usual},
		"another version of Kubernetes is left out": {
			&recorded, "--kubernetes-bin=", with(recorded, func(s *state.Spec) { s.KubernetesBinaries, s.Binaries = "", "" }),
		},
		"recorded load is left out": {&recorded, "--trace=", with(recorded, func(s *state.Spec) { s.Trace, s.Binaries = "", "" })},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			if tc.before != nil {
				m.add(t, *tc.before)
			}
			o := &upOptions{}
			cmd := &cobra.Command{Use: "koordctl"}
			o.addUpFlags(cmd)
			processtest.Must(t, cmd.ParseFlags(append([]string{"--name", "demo"}, strings.Fields(tc.flags)...)))
			processtest.Must(t, o.complete(cmd))
			if diff := cmp.Diff(tc.want, o.spec); diff != "" {
				t.Errorf("spec (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUpOfARealNodeThatCannotBe is told before anything is started, for every user: the node's programs are missing.
func TestUpOfARealNodeThatCannotBe(t *testing.T) {
	m := newMachine(t)
	t.Setenv("PATH", processtest.Programs(t, "koord-sandbox", "koord-scheduler", "koord-manager", "koord-descheduler", "koordlet"))
	got := m.run(t.Context(), "up", "--name", "demo", "--real-node")
	found, ok := finding.From(got.err)
	if !ok || found.Code != finding.SandboxRealNode {
		t.Errorf("up = %v; want KOORD0508", got.err)
	}
	if state.Open(m.home, "demo").Exists() {
		t.Error("a sandbox was made; want that nothing was started")
	}
}

func TestPendingPodsAreNamed(t *testing.T) {
	var stderr bytes.Buffer
	o := &upOptions{console: *english(&stderr)}
	commands := o.sayPending([]control.PendingPod{
		{Namespace: "shop", Name: "cache-0", Message: "0/3 nodes are available"},
		{Namespace: "shop", Message: "no pod with app=cache was created"},
	})
	want := "Pod shop/cache-0 is pending: 0/3 nodes are available\n" +
		"Not all pods of the scenario are running in namespace shop: no pod with app=cache was created\n"
	if diff := cmp.Diff(want, stderr.String()); diff != "" {
		t.Errorf("texts differ (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"explain pod -n shop cache-0"}, commands); diff != "" {
		t.Errorf("commands differ (-want +got):\n%s", diff)
	}
}
