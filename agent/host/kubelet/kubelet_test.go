package kubelet

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/decision/core/cpuset"
)

const config = `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cpuManagerPolicy: static
cpuManagerPolicyOptions: {full-pcpus-only: "true"}
reservedSystemCPUs: 0-1
topologyManagerPolicy: single-numa-node
topologyManagerScope: pod
evictionHard: {memory.available: 100Mi}
`

func TestRead(t *testing.T) {
	static := Binding{
		Policy: "static", Options: map[string]string{"full-pcpus-only": "true"}, ReservedCPUs: cpuset.Of(0, 1),
		TopologyPolicy: "single-numa-node", TopologyScope: "pod",
	}
	with := func(change func(*Binding)) Binding {
		out := static
		change(&out)
		return out
	}
	tests := map[string]struct {
		config, state string
		want          Binding
		wantProblem   string
	}{
		"a kubelet with defaults": {want: Binding{Policy: "none"}},
		"pods own the CPUs of all their containers": {
			config: config,
			state:  `{"policyName":"static","defaultCpuSet":"0-1,6-7","entries":{"b":{"x":"2"},"a":{"x":"3","y":"4-5"}},"checksum":1}`,
			want:   with(func(b *Binding) { b.Pods = []Pod{{"a", cpuset.Of(3, 4, 5)}, {"b", cpuset.Of(2)}} }),
		},
		"a policy that kubelet does not have yet": {
			config: config, state: `{"policyName":"none","defaultCpuSet":""}`, want: with(func(b *Binding) { b.Policy = "none" }),
		},
		"a state that is just being written": {
			config: config, state: `{"policyName":"none","entr`, want: static, wantProblem: "decode",
		},
		"CPUs that are none": {
			config: config, state: `{"policyName":"static","entries":{"a":{"x":"0-999999999","y":"3"}}}`,
			want: with(func(b *Binding) { b.Pods = []Pod{{"a", cpuset.Of(3)}} }), wantProblem: `container "x" of pod "a"`,
		},
		"a configuration that is none": {
			config: "\x00\x01", state: `{"policyName":"static","entries":{"a":{"x":"3"}}}`,
			want: Binding{Policy: "static", Pods: []Pod{{"a", cpuset.Of(3)}}}, wantProblem: "config.yaml",
		},
		"a file that is too large": {
			config: config, state: strings.Repeat(" ", largest+1), want: static, wantProblem: "larger",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			directory := t.TempDir()
			configFile, stateFile := filepath.Join(directory, "config.yaml"), filepath.Join(directory, "cpu_manager_state")
			for file, content := range map[string]string{configFile: test.config, stateFile: test.state} {
				if content == "" {
					continue
				}
				if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got, err := Read(configFile, stateFile)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("binding (-want +got):\n%s", diff)
			}
			if (err != nil) != (test.wantProblem != "") || err != nil && !strings.Contains(err.Error(), test.wantProblem) {
				t.Errorf("problem %v, want %q", err, test.wantProblem)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(config), []byte(`{"policyName":"static","entries":{"a":{"x":"3","y":"4-5"}}}`))
	f.Fuzz(func(t *testing.T, config, state []byte) {
		directory := t.TempDir()
		configFile, stateFile := filepath.Join(directory, "config.yaml"), filepath.Join(directory, "cpu_manager_state")
		if os.WriteFile(configFile, config, 0o600) != nil || os.WriteFile(stateFile, state, 0o600) != nil {
			t.Skip()
		}
		got, _ := Read(configFile, stateFile)
		if got.Policy == "" {
			t.Error("no policy")
		}
		for _, pod := range got.Pods {
			if pod.CPUs.IsEmpty() {
				t.Errorf("pod %q owns nothing", pod.UID)
			}
		}
	})
}
