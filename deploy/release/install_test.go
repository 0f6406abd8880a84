package release

import (
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v4/pkg/action"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/release/common"
	release "helm.sh/helm/v4/pkg/release/v1"
	"helm.sh/helm/v4/pkg/storage"
	"helm.sh/helm/v4/pkg/storage/driver"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"koordinator.sh/koord/api/finding"
)

var noon = time.Date(2030, time.June, 1, 12, 0, 0, 0, time.UTC)

// newStoredSession returns a session whose storage holds one revision, and that revision.
func newStoredSession(t *testing.T, chartName string, status common.Status, age time.Duration, options Options) *session {
	t.Helper()
	options, err := options.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	memory := driver.NewMemory()
	memory.SetNamespace(options.Namespace)
	s := &session{options: options, helm: action.NewConfiguration()}
	s.helm.Releases = storage.Init(memory)
	err = s.helm.Releases.Create(&release.Release{
		Name: options.ReleaseName, Namespace: options.Namespace, Version: 1,
		Chart: &chart.Chart{Metadata: &chart.Metadata{Name: chartName}},
		Info:  &release.Info{Status: status, LastDeployed: noon.Add(-age)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestUnfinishedInstallations(t *testing.T) {
	tests := map[string]struct {
		status     common.Status
		age        time.Duration
		options    Options
		wantStatus common.Status
		wantCode   finding.Code
	}{
		"a finished one is left alone": {status: common.StatusDeployed, age: time.Second, wantStatus: common.StatusDeployed},
		"one that runs is respected":   {status: common.StatusPendingInstall, age: time.Minute, wantCode: finding.InstallFailed},
		"one that was killed long ago is taken over": {
			status: common.StatusPendingUpgrade, age: DefaultTimeout, wantStatus: common.StatusFailed,
		},
		"one of a little ahead of the clock is respected": {status: common.StatusPendingInstall, age: -time.Minute, wantCode: finding.InstallFailed},
		"one of far ahead of the clock does not block every other for ever": {
			status: common.StatusPendingInstall, age: -24 * 365 * 100 * time.Hour, wantStatus: common.StatusFailed,
		},
		"the only installer does not wait": {
			status: common.StatusPendingInstall, options: Options{PendingGrace: -1}, wantStatus: common.StatusFailed,
		},
		"a removal that was killed is taken over": {
			status: common.StatusUninstalling, age: time.Hour, wantStatus: common.StatusFailed,
		},
		"a short timeout shortens the wait": {
			status: common.StatusPendingInstall, age: 2 * time.Second, options: Options{Timeout: time.Second}, wantStatus: common.StatusFailed,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := newStoredSession(t, chartName, tc.status, tc.age, tc.options)
			last, err := s.last(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.clearPending(last, noon)
			coded, _ := finding.From(err)
			if tc.wantCode != "" {
				if coded == nil || coded.Code != tc.wantCode {
					t.Errorf("error %v does not carry %s", err, tc.wantCode)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			stored, err := s.last(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if stored.Info.Status != tc.wantStatus {
				t.Errorf("the stored revision is %s, want %s", stored.Info.Status, tc.wantStatus)
			}
		})
	}
}

func TestAnotherChartsReleaseIsForeign(t *testing.T) {
	s := newStoredSession(t, "nginx", common.StatusDeployed, time.Hour, Options{})
	_, err := s.last(t.Context())
	if coded, ok := finding.From(err); !ok || coded.Code != finding.ReleaseForeign {
		t.Errorf("error %v does not carry %s", err, finding.ReleaseForeign)
	}
}

func TestWhoOwnsADefinition(t *testing.T) {
	tests := map[string]struct {
		group       string
		labels      map[string]string
		annotations map[string]string
		options     Options
		wantForeign bool
	}{
		"our group":                           {group: "slo.koordinator.sh"},
		"our group from another Helm release": {group: "slo.koordinator.sh", annotations: map[string]string{ownerRelease: "upstream"}, wantForeign: true},
		"a third party's group":               {group: "topology.node.k8s.io", wantForeign: true},
		"a third party's group we installed":  {group: "topology.node.k8s.io", labels: map[string]string{PartOfLabel: PartOf}},
		"a third party's group, told to":      {group: "topology.node.k8s.io", options: Options{TakeOwnership: true}},
		"a group that only looks like ours":   {group: "evilkoordinator.sh", wantForeign: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			live := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"group": tc.group}}}
			live.SetLabels(tc.labels)
			live.SetAnnotations(tc.annotations)
			options, err := tc.options.withDefaults()
			if err != nil {
				t.Fatal(err)
			}
			if got := ForeignOwner(live, options); (got != "") != tc.wantForeign {
				t.Errorf("owner is %q, want foreign = %v", got, tc.wantForeign)
			}
		})
	}
}

func TestOptionsReportEverythingThatIsWrong(t *testing.T) {
	_, err := Options{ReleaseName: "Not A Name", Namespace: "Neither", Timeout: -1}.withDefaults()
	coded, ok := finding.From(err)
	if !ok || coded.Code != finding.InvalidArgument {
		t.Fatalf("error %v does not carry %s", err, finding.InvalidArgument)
	}
	for _, text := range []string{`"Not A Name"`, `"Neither"`, "negative"} {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("error %q lacks %q", err, text)
		}
	}
}
