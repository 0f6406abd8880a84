package launch

import (
	"os"
	"path/filepath"
	"testing"

	"koordinator.sh/koord/api/finding"
	"koordinator.sh/koord/sandbox/process/processtest"
	"koordinator.sh/koord/sandbox/state"
)

func TestBinaries(t *testing.T) {
	const supervisor, scheduler, manager, descheduler = "koord-sandbox", "koord-scheduler", "koord-manager", "koord-descheduler"
	tests := map[string]struct {
		onPath         []string
		prepare        func(t *testing.T, dir string)
		kubernetesOnly bool
		realNode       string
		wantError      string
	}{
		"all are there": {onPath: []string{supervisor, scheduler, manager, descheduler}},
		"a bare control plane needs the supervisor alone": {onPath: []string{supervisor}, kubernetesOnly: true},
		"there are none": {
			wantError: "find the programs of the sandbox: koord-sandbox, koord-scheduler, koord-manager, koord-descheduler not found in the directory of koordctl or on PATH",
		},
		"a bare control plane without a supervisor": {
			kubernetesOnly: true,
			wantError:      "find the programs of the sandbox: koord-sandbox not found in the directory of koordctl or on PATH",
		},
		"one is missing": {
			onPath:    []string{supervisor, scheduler, descheduler},
			wantError: "find the programs of the sandbox: koord-manager not found in the directory of koordctl or on PATH",
		},
		"one cannot be run": {
			onPath: []string{supervisor, scheduler, descheduler},
			prepare: func(t *testing.T, dir string) {
				processtest.Must(t, os.WriteFile(filepath.Join(dir, manager), nil, 0o644))
			},
			wantError: "find the programs of the sandbox: koord-manager not",
		},
		"a real node needs its agent": {
			onPath: []string{supervisor, scheduler, manager, descheduler}, realNode: "box",
			wantError: "find the programs of the sandbox: koordlet not",
		},
		"a real node of a bare control plane has no agent": {onPath: []string{supervisor}, kubernetesOnly: true, realNode: "box"},
		"one is a directory": {
			onPath: []string{supervisor, manager, descheduler},
			prepare: func(t *testing.T, dir string) {
				processtest.Must(t, os.Mkdir(filepath.Join(dir, scheduler), 0o755))
			},
			wantError: "find the programs of the sandbox: koord-scheduler not",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			dir := processtest.Programs(t, tc.onPath...)
			if tc.prepare != nil {
				tc.prepare(t, dir)
			}
			t.Setenv("PATH", dir)
			got, err := Binaries(state.Spec{KubernetesOnly: tc.kubernetesOnly, RealNode: tc.realNode})
			if tc.wantError == "" {
				if got != dir || err != nil {
					t.Errorf("Binaries() = %q, %v; want %q", got, err, dir)
				}
				return
			}
			found, ok := finding.From(err)
			if !ok || found.Code != finding.SandboxBinariesMissing || found.Hint != "run: make build" || !says(err, tc.wantError) {
				t.Errorf("Binaries() = %v; want KOORD0501: %q", err, tc.wantError)
			}
		})
	}
}

func TestCheckKubernetes(t *testing.T) {
	tests := map[string]struct {
		programs  []string
		wantError string
	}{
		"all are there":                     {programs: []string{"kube-apiserver", "kube-controller-manager", "kube-proxy"}},
		"the controller manager is missing": {[]string{"kube-apiserver"}, "find the programs of Kubernetes: kube-controller-manager not found in "},
		"another directory":                 {nil, "find the programs of Kubernetes: kube-apiserver, kube-controller-manager not found in "},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			err := CheckKubernetes(state.Spec{KubernetesBinaries: processtest.Programs(t, tc.programs...)})
			if tc.wantError == "" {
				if err != nil {
					t.Errorf("CheckKubernetes() = %v", err)
				}
				return
			}
			if found, ok := finding.From(err); !ok || found.Code != finding.SandboxBinariesMissing || !says(err, tc.wantError) {
				t.Errorf("CheckKubernetes() = %v; want KOORD0501: %q", err, tc.wantError)
			}
		})
	}
	if err := CheckKubernetes(state.Spec{}); err != nil {
		t.Errorf("CheckKubernetes() of the sandbox's own programs = %v", err)
	}
}
