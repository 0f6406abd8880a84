package sandbox

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"koordinator.sh/koord/messages"
	"koordinator.sh/koord/sandbox/control"
	"koordinator.sh/koord/sandbox/process/processtest"
	"koordinator.sh/koord/sandbox/state"
)

var demo = state.Spec{Name: "demo", Nodes: 30, Scenario: "colocation", Seed: 1, Speed: 1}

func runningStatus() *control.Status {
	s := statusOf(state.At("/state/demo"), demo, control.Running)
	s.Components = []control.Component{
		{Name: "etcd", Phase: control.Running, PID: 4712, StartedAt: after(1), MemoryBytes: 61 << 20},
		{Name: "kube-apiserver", Phase: control.Running, PID: 4713, StartedAt: after(2), MemoryBytes: 331<<20 + 1},
		{Name: "koord-manager", Phase: control.BackOff, Restarts: 7, StartedAt: after(5360), LastExit: "signal: killed"},
		{Name: "koordlets", Phase: control.Pending},
	}
	return s
}

func TestWriteStatus(t *testing.T) {
	failed := statusOf(state.At("/state/demo"), demo, control.Failed)
	failed.Message, failed.Code = "certificates and configuration: use directory: 3 MiB free, 512 MiB needed", "KOORD0503"
	failed.Hint = "free some space"
	stopped := statusOf(state.At("/state/demo"), state.Spec{Name: "demo", KubernetesOnly: true}, control.Stopped)
	stopped.Server = ""
	for name, status := range map[string]*control.Status{"running": runningStatus(), "failed": failed, "stopped": stopped} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			processtest.Must(t, english(&b).writeStatus(status, now))
			golden(t, "status-"+name, b.String())
		})
	}
	t.Run("running, in Chinese", func(t *testing.T) {
		var b strings.Builder
		c := english(&b)
		c.say = messages.Chinese.Text
		processtest.Must(t, c.writeStatus(runningStatus(), now))
		golden(t, "zh-status-running", b.String())
	})
}

func TestStatusAndListAreTyped(t *testing.T) {
	m := newMachine(t)
	up := m.add(t, demo)
	m.add(t, state.Spec{Name: "bare", KubernetesOnly: true, Seed: 1, Speed: 1})
	status := statusOf(up, demo, control.Running)
	status.Components = runningStatus().Components
	processtest.Answer(t, up, status)
	want := map[string][2]string{ // kind, and the names in it
		"status --name demo": {"SandboxStatus", "demo"},
		"status --name bare": {"SandboxStatus", "bare"},
		"list":               {"SandboxStatusList", "bare demo"},
	}
	for line, want := range want {
		for _, format := range []string{"json", "yaml"} {
			t.Run(line+" "+format, func(t *testing.T) {
				got := m.run(t.Context(), append(strings.Fields(line), "-o", format)...)
				if got.err != nil || got.errOut != "" {
					t.Fatalf("error %v, standard error %q; want none", got.err, got.errOut)
				}
				if isJSON := json.Valid([]byte(got.out)); isJSON != (format == "json") {
					t.Errorf("output is JSON = %t", isJSON)
				}
				var answer struct {
					control.Status `json:",inline"`
					Items          []control.Status `json:"items"`
				}
				processtest.Must(t, yaml.UnmarshalStrict([]byte(got.out), &answer))
				names := answer.Spec.Name
				for _, item := range answer.Items {
					names = strings.TrimSpace(names + " " + item.Spec.Name)
					if item.APIVersion != control.StatusAPIVersion || item.Kind != control.StatusKind {
						t.Errorf("item %q is a %s %s", item.Spec.Name, item.APIVersion, item.Kind)
					}
				}
				if answer.APIVersion != "diagnostics.koordinator.sh/v1alpha1" || answer.Kind != want[0] || names != want[1] {
					t.Errorf("answer is a %s %s of %q; want a %s of %q", answer.APIVersion, answer.Kind, names, want[0], want[1])
				}
			})
		}
	}
	t.Run("nothing is lost on the way", func(t *testing.T) {
		var got control.Status
		processtest.Must(t, json.Unmarshal([]byte(strings.ReplaceAll(m.run(t.Context(), "status", "--name", "demo", "-o", "json").out, "HOME", m.home)), &got))
		if diff := cmp.Diff(status, &got); diff != "" {
			t.Errorf("status -o json (-want +got):\n%s", diff)
		}
	})
}

func TestCommandsPrint(t *testing.T) {
	lines := map[string]string{
		"list":                  "list",
		"status-of-stopped":     "status --name bare",
		"status-unknown":        "status --name missing",
		"status-unknown-format": "status -o xml",
		"list-unknown-format":   "list -o wide",
		"logs":                  "logs etcd --name bare",
		"logs-of-nothing":       "logs --name bare",
		"logs-unknown":          "logs kubelet --name bare",
		"logs-outside":          "logs ../spec --name bare",
		"logs-unknown-sandbox":  "logs etcd --name missing",
		"kubeconfig-unknown":    "kubeconfig --name missing",
		"down-unknown":          "down --name missing",
		"down-of-stopped":       "down --name bare",
		"name-outside":          "down --purge --name ../demo",
		"name-empty":            "status --name=",
		"up-unknown-scenario":   "up --scenario colocatoin",
		"up-too-many-nodes":     "up --nodes 5001",
		"up-negative-nodes":     "up --nodes=-1",
		"up-too-fast":           "up --speed 1e9",
		"up-no-number":          "up --speed NaN",
		"up-bad-port":           "up --api-server-port 70000",
		"up-contradiction":      "up --kubernetes-only --scenario colocation",
		"up-trace-without-load": "up --kubernetes-only --trace /usage.csv",
		"up-trace-missing":      "up --trace /missing/usage.csv",
		"up-without-programs":   "up",
		"help":                  "--help",
		"help-up":               "up --help",
		"help-logs":             "logs --help",
		"help-kubeconfig":       "kubeconfig -h",
	}
	for name, line := range lines {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			t.Setenv("PATH", t.TempDir())
			dir := m.add(t, state.Spec{Name: "bare", KubernetesOnly: true, Seed: 1, Speed: 1})
			processtest.Must(t, os.WriteFile(dir.Log("etcd"), []byte("ready to serve\n"), 0o600))
			processtest.Must(t, os.WriteFile(dir.Log("supervisor"), nil, 0o600))
			processtest.Must(t, os.MkdirAll(filepath.Join(m.home, "sandboxes", "never-started"), 0o700))
			golden(t, name, m.run(t.Context(), strings.Fields(line)...).text())
		})
	}
}

func TestListOfNothing(t *testing.T) {
	m := newMachine(t)
	if got := m.run(t.Context(), "list"); got.out != "" || got.errOut != "No sandboxes found. Start one with: kubectl koord sandbox up\n" || got.err != nil {
		t.Errorf("list = %+v; want how to start one, on standard error", got)
	}
	if got := m.run(t.Context(), "list", "-o", "json"); !strings.Contains(got.out, `"items": []`) {
		t.Errorf("list -o json = %q; want an empty list", got.out)
	}
}

func TestListOfABrokenSandbox(t *testing.T) {
	m := newMachine(t)
	m.add(t, demo)
	broken := m.add(t, state.Spec{Name: "broken", Speed: 1})
	processtest.Must(t, os.WriteFile(filepath.Join(broken.Path(), "spec.json"), []byte("{"), 0o600))
	got := m.run(t.Context(), "list")
	if !strings.Contains(got.out, "demo") || !strings.Contains(got.errOut, `incomplete: sandbox "broken": parse spec.json`) || got.err != nil {
		t.Errorf("list = %+v; want the good one, and why the other is left out", got)
	}
}

func TestNamesAreCompleted(t *testing.T) {
	m := newMachine(t)
	m.add(t, demo)
	processtest.Must(t, os.WriteFile(m.add(t, state.Spec{Name: state.DefaultName, Speed: 1}).Log("etcd"), nil, 0o600))
	names, _ := completeNames(nil, nil, "")
	if diff := cmp.Diff([]string{"default", "demo"}, names); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	o := logsOptions{target: target{name: state.DefaultName}}
	components, _ := o.completeComponents(nil, nil, "")
	if diff := cmp.Diff([]string{"etcd"}, components); diff != "" {
		t.Errorf("components (-want +got):\n%s", diff)
	}
}
