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
		"a scheduler that nothing verifies": {
			args: []string{"--config=file", "--scheduler-endpoint=https://scheduler:10260"}, wantTexts: []string{"--scheduler-endpoint needs --scheduler-ca-file"},
		},
		"a scheduler with the CA of the serving certificate": {args: []string{"--config=file", "--cert-secret=a/b", "--scheduler-endpoint=https://scheduler:10260"}},
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
`,
			change: func(s *settings) {
				s.kubeconfig, s.qps, s.burst = "/file", 7, 9
				s.leaseName, s.leaseNamespace = "other", "elsewhere"
				s.leaseDuration, s.renewDeadline, s.retryPeriod = time.Minute, 40*time.Second, 5*time.Second
				s.profiling = false
			},
		},
		"a kubeconfig by flag": {
			configuration: "clientConnection: {kubeconfig: /file}", args: []string{"--kubeconfig=/flag"},
			change: func(s *settings) { s.kubeconfig = "/flag" },
		},
		"no election by flag":          {configuration: "leaderElection: {leaderElect: true}", args: []string{"--leader-elect=false"}, change: func(s *settings) { s.elect = false }},
		"no election by configuration": {configuration: "leaderElection: {leaderElect: false}", change: func(s *settings) { s.elect = false }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			options, err := parse(t, tc.args...)
			if err != nil {
				t.Fatal(err)
			}
			configuration := &load(t, tc.configuration).current().DeschedulerConfiguration
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

func TestTheFlagWinsOverAConfigurationThatEvicts(t *testing.T) {
	tests := map[string]struct {
		configuration string
		args          []string
		wantDryRun    bool
	}{
		"evictions":                      {},
		"a dry run by the file":          {configuration: "dryRun: true", wantDryRun: true},
		"a dry run by flag":              {configuration: "dryRun: false", args: []string{"--dry-run"}, wantDryRun: true},
		"a dry run by the file, no flag": {configuration: "dryRun: true", args: []string{"--dry-run=false"}, wantDryRun: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := load(t, tc.configuration, tc.args...).current().DryRun; got != tc.wantDryRun {
				t.Errorf("dry run is %v, want %v", got, tc.wantDryRun)
			}
		})
	}
}

func TestAConfigurationThatIsNotValidEndsTheStart(t *testing.T) {
	options, err := parse(t, "--config="+write(t, header+"dryRuns: true"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := loadConfiguration(t.Context(), options, nil); err == nil || !strings.Contains(err.Error(), "dryRuns") {
		t.Errorf("error is %v, want one about dryRuns", err)
	}
}

func TestArgumentsOfMigrationAreReadAgain(t *testing.T) {
	arguments := func(args string) string {
		return header + "profiles: [{pluginConfig: [{name: MigrationController, args: " + args + "}]}]"
	}
	path := write(t, arguments("{evictBurst: 2}"))
	options, err := parse(t, "--config="+path)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := loadConfiguration(t.Context(), options, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		args string
		// wantTexts of the error; none for arguments that are valid.
		wantTexts []string
		wantBurst int32
	}{
		{args: "{evictBurst: 3}", wantBurst: 3},
		{args: "{evictBurst: -1, evictionPolicy: Burn, defaultJobTTL: -5m}", wantTexts: []string{"args.evictBurst", "args.evictionPolicy", "args.defaultJobTTL"}, wantBurst: 3},
		{args: "[", wantTexts: []string{"invalid configuration"}, wantBurst: 3},
		{args: "{}", wantBurst: 1},
	} {
		if err := os.WriteFile(path, []byte(arguments(step.args)), 0o600); err != nil {
			t.Fatal(err)
		}
		err := loaded.store.Reload(t.Context())
		if (err != nil) != (len(step.wantTexts) > 0) {
			t.Fatalf("%s: error is %v", step.args, err)
		}
		for _, text := range step.wantTexts {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%s: error %q lacks %q", step.args, err, text)
			}
		}
		if got := loaded.migration().EvictBurst; got != step.wantBurst {
			t.Errorf("%s: evictBurst in force is %d, want %d", step.args, got, step.wantBurst)
		}
	}
}

func TestJobsThatEndedAreKeptAsLongAsTheConfigurationLooksBack(t *testing.T) {
	const day = 24 * time.Hour
	limiter := "profiles: [{pluginConfig: [{name: MigrationController, args: {objectLimiters: {namespace: {duration: 36h, maxMigrating: 5}}}}]}]"
	planner := "profiles: [{plugins: {balance: {enabled: [{name: LoadAwareRebalancing}]}}, pluginConfig: [{name: LoadAwareRebalancing, args: {historyWindow: 48h}}]}]"
	for name, tc := range map[string]struct {
		configuration string
		want          time.Duration
	}{
		"a day by default":                {want: day},
		"the longest limiter":             {configuration: limiter, want: 36 * time.Hour},
		"what the planner remembers":      {configuration: planner, want: 2 * day},
		"a planner that remembers little": {configuration: strings.Replace(planner, "48h", "2h", 1), want: day},
	} {
		t.Run(name, func(t *testing.T) {
			if got := load(t, tc.configuration).retention().For; got != tc.want {
				t.Errorf("jobs are kept for %s, want %s", got, tc.want)
			}
		})
	}
}

// load reads a configuration as the program does.
func load(t *testing.T, text string, args ...string) *configured {
	t.Helper()
	options, err := parse(t, append(args, "--config="+write(t, header+text))...)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := loadConfiguration(t.Context(), options, nil)
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "configuration.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
