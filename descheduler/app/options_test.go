package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

func TestFlagsThatCannotWorkAreRefusedTogether(t *testing.T) {
	tests := map[string]struct {
		args      []string
		wantTexts []string
	}{
		"a configuration suffices":  {args: []string{"--config=file"}},
		"no configuration":          {wantTexts: []string{"--config must name a file"}},
		"a secret of no namespace":  {args: []string{"--config=file", "--cert-secret=serving"}, wantTexts: []string{`"serving" must be NAMESPACE/NAME`}},
		"a secret with two slashes": {args: []string{"--config=file", "--cert-secret=a/b/c"}, wantTexts: []string{`"a/b/c" must be NAMESPACE/NAME`}},
		"everything wrong": {
			args:      []string{"--secure-port=0", "--cert-secret=/serving", "--bind-address="},
			wantTexts: []string{"--config", "--secure-port 0", `"/serving"`},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			options, err := parse(t, tc.args...)
			if err == nil {
				err = options.Validate()
			}
			if (err != nil) != (len(tc.wantTexts) > 0) {
				t.Fatalf("error is %v", err)
			}
			for _, text := range tc.wantTexts {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("error %q lacks %q", err, text)
				}
			}
		})
	}
}

func parse(t *testing.T, args ...string) (*Options, error) {
	t.Helper()
	options, flags := NewOptions(), pflag.NewFlagSet(component, pflag.ContinueOnError)
	options.AddFlags(flags)
	return options, flags.Parse(args)
}

const header = "apiVersion: descheduler/v1alpha2\nkind: DeschedulerConfiguration\n"

func TestSettings(t *testing.T) {
	defaults := settings{
		qps: 50, burst: 100, elect: true, leaseNamespace: "koordinator-system", leaseName: "koord-descheduler",
		leaseDuration: 15 * time.Second, renewDeadline: 10 * time.Second, retryPeriod: 2 * time.Second, profiling: true,
	}
	tests := map[string]struct {
		configuration string
		args          []string
		change        func(*settings)
	}{
		"the defaults": {},
		"the configuration": {
			configuration: `
clientConnection: {kubeconfig: /file, qps: 7, burst: 9}
leaderElection: {resourceName: other, resourceNamespace: elsewhere, leaseDuration: 60s, renewDeadline: 40s, retryPeriod: 5s}
enableProfiling: false
dryRun: true
`,
			change: func(s *settings) {
				s.kubeconfig, s.qps, s.burst = "/file", 7, 9
				s.leaseName, s.leaseNamespace = "other", "elsewhere"
				s.leaseDuration, s.renewDeadline, s.retryPeriod = time.Minute, 40*time.Second, 5*time.Second
				s.profiling, s.dryRun = false, true
			},
		},
		"a kubeconfig by flag": {
			configuration: "clientConnection: {kubeconfig: /file}", args: []string{"--kubeconfig=/flag"},
			change: func(s *settings) { s.kubeconfig = "/flag" },
		},
		"no election by flag":          {configuration: "leaderElection: {leaderElect: true}", args: []string{"--leader-elect=false"}, change: func(s *settings) { s.elect = false }},
		"no election by configuration": {configuration: "leaderElection: {leaderElect: false}", change: func(s *settings) { s.elect = false }},
		"a dry run by flag":            {configuration: "dryRun: false", args: []string{"--dry-run"}, change: func(s *settings) { s.dryRun = true }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			options, err := parse(t, tc.args...)
			if err != nil {
				t.Fatal(err)
			}
			configuration, err := readConfiguration(write(t, header+tc.configuration))
			if err != nil {
				t.Fatal(err)
			}
			want := defaults
			if tc.change != nil {
				tc.change(&want)
			}
			if diff := cmp.Diff(want, settingsOf(options, configuration), cmp.AllowUnexported(settings{})); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
		})
	}
}

func TestConfigurationsThatCannotBeRead(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"no configuration":          {"", `apiVersion "" and kind "" must be`},
		"another version":           {"apiVersion: descheduler/v1alpha1\nkind: DeschedulerConfiguration", `"descheduler/v1alpha1"`},
		"sigs' policy":              {"apiVersion: descheduler/v1alpha2\nkind: DeschedulerPolicy", `"DeschedulerPolicy"`},
		"a field that is not there": {header + "dryRuns: true", "dryRuns"},
		"no YAML":                   {header + "\t{", "decode configuration"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := readConfiguration(write(t, tc.text)); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error is %v; want one with %q", err, tc.want)
			}
		})
	}
	if _, err := readConfiguration(filepath.Join(t.TempDir(), "absent")); err == nil {
		t.Error("no error for a file that does not exist")
	}
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "configuration.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
