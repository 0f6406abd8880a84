package configuration_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/descheduler/pkg/framework/pluginregistry"
	"sigs.k8s.io/descheduler/pkg/framework/plugins/podlifetime"

	"koordinator.sh/koord/descheduler/configuration"
	"koordinator.sh/koord/descheduler/pluginargs"
	"koordinator.sh/koord/descheduler/plugins"
)

// migrationArgs stand for the arguments of the plugin that evicts.
type migrationArgs struct {
	MaxMigratingPerNode *int32 `json:"maxMigratingPerNode,omitempty"`
}

type migrationController struct{}

func (migrationController) Name() string                       { return configuration.MigrationController }
func (migrationController) Filter(*corev1.Pod) bool            { return true }
func (migrationController) PreEvictionFilter(*corev1.Pod) bool { return true }

// registry has the plugins of the product, and a plugin that evicts.
func registry() pluginregistry.Registry {
	all := plugins.Registry(plugins.Sources{})
	delete(all, configuration.MigrationController)
	validate := func(args *migrationArgs) field.ErrorList {
		if args.MaxMigratingPerNode != nil && *args.MaxMigratingPerNode < 0 {
			return field.ErrorList{field.Invalid(field.NewPath("maxMigratingPerNode"), *args.MaxMigratingPerNode, "must not be negative")}
		}
		return nil
	}
	defaults := func(args *migrationArgs) {
		if args.MaxMigratingPerNode == nil {
			two := int32(2)
			args.MaxMigratingPerNode = &two
		}
	}
	pluginregistry.Register(configuration.MigrationController, nil, migrationController{}, &pluginargs.Args[migrationArgs]{},
		pluginargs.Validator(validate), pluginargs.Defaulter(defaults), all)
	return all
}

const header = "apiVersion: descheduler/v1alpha2\nkind: DeschedulerConfiguration\n"

func TestAnEmptyConfigurationHasTheDefaultsOfUpstream(t *testing.T) {
	got, err := configuration.Read([]byte(header), registry())
	if err != nil {
		t.Fatal(err)
	}
	profile := got.Profiles[0]
	args, err := pluginargs.Of[migrationArgs](profile.Args[configuration.MigrationController])
	if err != nil {
		t.Fatal(err)
	}
	type defaults struct {
		Interval                       time.Duration
		Lease, Profile                 string
		Elect                          bool
		QPS                            float32
		Burst, MaxMigratingPerNode     int32
		Deschedule, Balance            []string
		Evict, Filter                  []string
		PerNode, PerNamespace, InTotal bool
	}
	want := defaults{
		Interval: 2 * time.Minute, Lease: "koordinator-system/koord-descheduler", Profile: "koord-descheduler", Elect: true, QPS: 50, Burst: 100,
		MaxMigratingPerNode: 2, Evict: []string{"MigrationController"}, Filter: []string{"MigrationController"},
	}
	if diff := cmp.Diff(want, defaults{
		Interval: got.Interval, Lease: got.LeaderElection.ResourceNamespace + "/" + got.LeaderElection.ResourceName, Profile: profile.Name,
		Elect: *got.LeaderElection.LeaderElect, QPS: got.ClientConnection.QPS, Burst: got.ClientConnection.Burst, MaxMigratingPerNode: *args.MaxMigratingPerNode,
		Deschedule: profile.Deschedule, Balance: profile.Balance, Evict: profile.Evict, Filter: profile.Filter,
		PerNode: got.Limits.PerNode != nil, PerNamespace: got.Limits.PerNamespace != nil, InTotal: got.Limits.Total != nil,
	}); diff != "" {
		t.Errorf("defaults (-want +got):\n%s", diff)
	}
}

func TestPluginsAndTheirArguments(t *testing.T) {
	got, err := configuration.Read([]byte(header+`
profiles:
- name: old-pods
  plugins:
    deschedule: {enabled: [{name: RemoveFailedPods}, {name: PodLifeTime}]}
    evict: {disabled: [{name: "*"}], enabled: [{name: DefaultEvictor}]}
    filter: {enabled: [{name: DefaultEvictor}]}
  pluginConfig:
  - name: PodLifeTime
    args: {apiVersion: descheduler/v1alpha2, kind: PodLifeTimeArgs, maxPodLifeTimeSeconds: 600}
  - name: RemoveDuplicates
`), registry())
	if err != nil {
		t.Fatal(err)
	}
	profile := got.Profiles[0]
	points := [][]string{profile.Deschedule, profile.Evict, profile.Filter, got.Warnings}
	want := [][]string{
		{"RemoveFailedPods", "PodLifeTime"}, {"DefaultEvictor"}, {"MigrationController", "DefaultEvictor"},
		{"profiles[0].pluginConfig[1]: has no effect: the profile does not enable RemoveDuplicates"},
	}
	if diff := cmp.Diff(want, points); diff != "" {
		t.Errorf("plugins and warnings (-want +got):\n%s", diff)
	}
	args, ok := profile.Args["PodLifeTime"].(*podlifetime.PodLifeTimeArgs)
	if !ok || *args.MaxPodLifeTimeSeconds != 600 {
		t.Errorf("arguments of PodLifeTime are %+v", profile.Args["PodLifeTime"])
	}
}

func TestEveryProblemIsReportedAtOnce(t *testing.T) {
	tests := map[string]struct {
		text string
		want []string
	}{
		"faults in every part": {
			text: header + `
leaderElection: {leaseDuration: 5s, resourceLock: endpoints}
clientConnection: {qps: fast}
deschedulinginterval: 2m
deschedulingInterval: 10ms
maxNoOfPodsToEvictPerNode: -1
maxNoOfPodsToEvictTotal: many
nodeSelector: {matchExpressions: [{key: pool, operator: Near}]}
profiles:
- name: a
  plugins:
    balance: {enabled: [{name: LowNodeUtilisation}, {name: PodLifeTime}]}
    filter: {enable: [{name: DefaultEvictor}]}
  pluginConfig:
  - name: LowNodeUtilization
    args: {thresholds: {cpu: 120}, targetThresholds: {cpu: 50}, numberOfNode: 1}
  - name: PodLifeTime
    args: {kind: PodLifetimeArgs}
  - name: MigrationController
    args: {maxMigratingPerNode: -1}
- name: a
  plugins: {evict: {disabled: [{name: MigrationController}]}}
`,
			want: []string{
				`clientConnection.qps: Invalid value: must be a number, not string`,
				`deschedulingInterval: Invalid value: "10ms": must be 0, or from 1s to 168h0m0s`,
				`deschedulinginterval: Forbidden: unknown field`,
				`leaderElection.leaseDuration: Invalid value: "5s": must be more than renewDeadline, 10s`,
				`leaderElection.resourceLock: Unsupported value: "endpoints": supported values: "leases"`,
				`maxNoOfPodsToEvictPerNode: Invalid value: -1: must not be negative`,
				`maxNoOfPodsToEvictTotal: Invalid value: must be an integer, not string`,
				`nodeSelector.matchExpressions[0].operator: Invalid value: "Near": not a valid selector operator`,
				`profiles[0].pluginConfig[0].args.numberOfNode: Forbidden: unknown field`,
				`profiles[0].pluginConfig[1].args.kind: Unsupported value: "PodLifetimeArgs": supported values: "PodLifeTimeArgs"`,
				`profiles[0].pluginConfig[2].args.maxMigratingPerNode: Invalid value: -1: must not be negative`,
				`profiles[0].plugins.balance.enabled[0].name: Invalid value: "LowNodeUtilisation": there is no such plugin; did you mean "LowNodeUtilization"?`,
				`profiles[0].plugins.balance.enabled[1].name: Invalid value: "PodLifeTime": the plugin has no extension point balance, only [deschedule]`,
				`profiles[0].plugins.filter.enable: Forbidden: unknown field`,
				`profiles[1].name: Duplicate value: "a"`,
				`profiles[1].plugins.evict: Required value: a profile without a plugin that evicts does nothing; the default is MigrationController`,
			},
		},
		"arguments that a plugin refuses": {
			text: header + `
profiles:
- plugins: {balance: {enabled: [{name: LowNodeUtilization}]}}
  pluginConfig:
  - {name: LowNodeUtilization, args: {thresholds: {cpu: 120}, targetThresholds: {cpu: 50}}}
`,
			want: []string{`profiles[0].pluginConfig[0].args: Invalid value: LowNodeUtilization: thresholds config is not valid: cpu threshold not in [0, 100] range`},
		},
		"arguments that are missing": {
			text: header + "profiles: [{plugins: {balance: {enabled: [{name: LowNodeUtilization}]}}}]",
			want: []string{`profiles[0].pluginConfig[LowNodeUtilization]: Invalid value: LowNodeUtilization: thresholds config is not valid: no resource threshold is configured`},
		},
		"several profiles without names": {
			text: header + "profiles: [{}, {}]",
			want: []string{
				`profiles[0].name: Required value: must be set when there are several profiles`,
				`profiles[1].name: Required value: must be set when there are several profiles`,
			},
		},
		"a single pass with leader election": {
			text: header + "deschedulingInterval: 0s",
			want: []string{`deschedulingInterval: Invalid value: "0s": a single pass needs leaderElection.leaderElect: false`},
		},
		"a repeated key":   {text: header + "dryRun: true\ndryRun: false", want: []string{`Invalid value: yaml: unmarshal errors:`}},
		"no version":       {text: "kind: DeschedulerConfiguration", want: []string{`apiVersion: Required value: must be descheduler/v1alpha2`}},
		"another document": {text: "apiVersion: v1\nkind: ConfigMap", want: []string{`apiVersion: Unsupported value: "v1"`, `kind: Unsupported value: "ConfigMap"`}},
		"not an object":    {text: "- a", want: []string{`Invalid value: json: cannot unmarshal array`}},
		"nothing":          {text: "", want: []string{`apiVersion: Required`, `kind: Required`}},
		"a policy of the descheduler of sigs": {
			text: "apiVersion: descheduler/v1alpha2\nkind: DeschedulerPolicy\nprofiles: [{name: a, plugins: {balance: {enabled: [LowNodeUtilization]}}}]",
			want: []string{`kind: Invalid value: "DeschedulerPolicy": this is a policy of sigs.k8s.io/descheduler`},
		},
		"profiles that are none": {text: header + "profiles: {name: a}", want: []string{`profiles: Invalid value: must be a list of profiles`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := configuration.Read([]byte(test.text), registry())
			var invalid *configuration.InvalidError
			if !errors.As(err, &invalid) {
				t.Fatalf("error is %v, want one about the configuration", err)
			}
			var got []string
			for i, problem := range invalid.Problems {
				text := strings.TrimPrefix(problem.Error(), "<nil>: ")
				if i < len(test.want) && strings.HasPrefix(text, test.want[i]) {
					text = test.want[i]
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAPluginThatPanicsOnItsArgumentsRefusesThem(t *testing.T) {
	all := registry()
	delete(all, configuration.MigrationController)
	var missing *int32
	pluginregistry.Register(configuration.MigrationController, nil, migrationController{}, &pluginargs.Args[migrationArgs]{},
		pluginargs.Validator(func(*migrationArgs) field.ErrorList {
			return field.ErrorList{field.Invalid(nil, *missing, "")}
		}), pluginargs.Defaulter(func(*migrationArgs) {}), all)
	_, err := configuration.Read([]byte(header), all)
	if err == nil || !strings.Contains(err.Error(), "profiles[0].pluginConfig[MigrationController]: Invalid value: MigrationController: the plugin panics on its arguments") {
		t.Errorf("error is %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(header + "profiles: [{plugins: {balance: {enabled: [{name: LowNodeUtilization}]}}, pluginConfig: [{name: LowNodeUtilization, args: {thresholds: {cpu: 20}}}]}]")
	f.Add(header + "nodeSelector: {matchLabels: {a: b}}\nleaderElection: {leaderElect: false}\ndeschedulingInterval: 0s")
	f.Add("[")
	all := registry()
	f.Fuzz(func(t *testing.T, text string) {
		got, err := configuration.Read([]byte(text), all)
		if (got == nil) == (err == nil) {
			t.Errorf("configuration %v and error %v", got, err)
		}
	})
}
