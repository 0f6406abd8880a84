package install

import (
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"koordinator.sh/koord/api/finding"
)

func TestVersionsOfTheAPIServer(t *testing.T) {
	const supported = "koord-scheduler is supported on 1.36 and 1.37"
	tests := map[string]struct {
		version     string
		want        KubernetesStatus
		wantFinding finding.Code
		wantUnread  bool
	}{
		"that of koord-scheduler":    {version: "v1.36.3", want: KubernetesStatus{State: StateReady}},
		"one minor version newer":    {version: "v1.37.0", want: KubernetesStatus{State: StateReady}},
		"that of a vendor":           {version: "v1.36.1-gke.1200", want: KubernetesStatus{State: StateReady}},
		"a release candidate of it":  {version: "v1.37.0-rc.1+4f2ad1", want: KubernetesStatus{State: StateReady}},
		"one minor version older":    {version: "v1.35.4", want: KubernetesStatus{State: StateDegraded, Detail: supported}, wantFinding: finding.KubernetesSkew},
		"two minor versions newer":   {version: "v1.38.0", want: KubernetesStatus{State: StateDegraded, Detail: supported}, wantFinding: finding.KubernetesSkew},
		"another major version":      {version: "v2.36.0", want: KubernetesStatus{State: StateDegraded, Detail: supported}, wantFinding: finding.KubernetesSkew},
		"one that cannot be read":    {version: "unknown", want: KubernetesStatus{State: StateUnknown}, wantUnread: true},
		"none, as of a broken proxy": {version: "", want: KubernetesStatus{State: StateUnknown}, wantUnread: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := &collector{status: &InstallationStatus{}}
			c.judgeKubernetes(tc.version)
			tc.want.Version = tc.version
			if diff := cmp.Diff(tc.want, c.status.Kubernetes); diff != "" {
				t.Errorf("status (-want +got):\n%s", diff)
			}
			var found finding.Code
			for _, f := range c.status.Findings {
				found = finding.Code(f.Code)
			}
			if unread := len(c.status.Incomplete) > 0; found != tc.wantFinding || unread != tc.wantUnread {
				t.Errorf("finding %q, incomplete %q; want %q, and incomplete: %t", found, c.status.Incomplete, tc.wantFinding, tc.wantUnread)
			}
		})
	}
}

// TestSchedulerMinor holds the constant against the version that koord-scheduler is compiled from.
func TestSchedulerMinor(t *testing.T) {
	text, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	required := regexp.MustCompile(`k8s\.io/kubernetes v(1\.\d+)\.`).FindSubmatch(text)
	if want := fmt.Sprintf("1.%d", schedulerMinor); required == nil || string(required[1]) != want {
		t.Errorf("go.mod requires Kubernetes %s, and status takes koord-scheduler for %s", required, want)
	}
}
