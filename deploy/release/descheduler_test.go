package release

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	descheduler "koordinator.sh/koord/api/descheduler/v1alpha2"
	"koordinator.sh/koord/descheduler/app"
)

// deschedulerOf are what the values make of koord-descheduler: its flags, its configuration, and whether it may delete pods.
func deschedulerOf(t *testing.T, values map[string]any) (options *app.Options, config descheduler.DeschedulerConfiguration, deletes bool) {
	t.Helper()
	given := map[string]any{}
	if values != nil { // nil would take all of them away
		given["descheduler"] = values
	}
	for _, object := range objectsOf(t, renderForTest(t, given)) {
		if object.GetName() != "koord-descheduler" && object.GetName() != "koord-descheduler-config" {
			continue
		}
		switch object.GetKind() {
		case "Deployment":
			containers, _, _ := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
			options = flagsOf(t, containers[0].(map[string]any)["args"].([]any))
		case "ConfigMap":
			data, _, _ := unstructured.NestedStringMap(object.Object, "data")
			if err := yaml.UnmarshalStrict([]byte(data["koord-descheduler-config"]), &config); err != nil {
				t.Fatal(err)
			}
		case "ClusterRole":
			rules, _, _ := unstructured.NestedSlice(object.Object, "rules")
			deletes = slices.ContainsFunc(rules, func(rule any) bool {
				r := rule.(map[string]any)
				resources, _ := r["resources"].([]any) // a rule of paths has none
				return slices.Contains(resources, any("pods")) && slices.Contains(r["verbs"].([]any), any("delete"))
			})
		}
	}
	return options, config, deletes
}

// flagsOf are the options that arguments make: a flag that koord-descheduler does not have fails the test.
func flagsOf(t *testing.T, args []any) *app.Options {
	t.Helper()
	options, flags := app.NewOptions(), pflag.NewFlagSet("koord-descheduler", pflag.ContinueOnError)
	options.AddFlags(flags)
	var own []string
	for _, arg := range args {
		if text := arg.(string); !strings.HasPrefix(text, "-v=") { // the log's, which every program has
			own = append(own, text)
		}
	}
	if err := flags.Parse(own); err != nil {
		t.Fatalf("koord-descheduler does not take %q: %v", own, err)
	}
	if err := options.Validate(); err != nil {
		t.Errorf("koord-descheduler refuses %q: %v", own, err)
	}
	return options
}

// argsOf are the arguments of a plugin in the only profile.
func argsOf(t *testing.T, config descheduler.DeschedulerConfiguration, plugin string) map[string]any {
	t.Helper()
	for _, entry := range config.Profiles[0].PluginConfig {
		var args map[string]any
		if entry.Name != plugin {
			continue
		}
		if err := yaml.Unmarshal(entry.Args.Raw, &args); err != nil {
			t.Fatal(err)
		}
		return args
	}
	t.Fatalf("plugin %q has no arguments", plugin)
	return nil
}

func TestTheDeschedulerDoesWhatTheValuesSay(t *testing.T) {
	options, config, _ := deschedulerOf(t, nil)
	if options == nil || options.SchedulerEndpoint != "https://koord-scheduler.koordinator-system.svc:10260" || options.SecurePort != 10261 || options.CertSecret != "koordinator-system/koord-descheduler-serving" || !options.LeaderElect {
		t.Errorf("flags %+v", options)
	}
	profile := config.Profiles[0]
	var plugins []string
	for _, set := range []descheduler.PluginSet{profile.Plugins.Balance, profile.Plugins.Evict, profile.Plugins.Filter} {
		for _, plugin := range set.Enabled {
			plugins = append(plugins, plugin.Name)
		}
	}
	if diff := cmp.Diff([]string{"LoadAwareRebalancing", "MigrationController", "MigrationController"}, plugins); diff != "" || profile.Name != "koord-descheduler" {
		t.Errorf("profile %q balances, evicts and filters by (-want +got):\n%s", profile.Name, diff)
	}
	args := argsOf(t, config, "LoadAwareRebalancing")
	want := map[string]any{"schedulerReview": "Required", "highThresholds": map[string]any{"cpu": 75.0, "memory": 80.0}}
	got := map[string]any{"schedulerReview": args["schedulerReview"], "highThresholds": args["highThresholds"]}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	if config.MaxNoOfPodsToEvictTotal != nil || config.DryRun {
		t.Errorf("limit %v, dry run %t", config.MaxNoOfPodsToEvictTotal, config.DryRun)
	}
	_, config, _ = deschedulerOf(t, map[string]any{"config": map[string]any{"maxNoOfPodsToEvictTotal": 7, "dryRun": true, "deschedulingInterval": "30s"}})
	if config.MaxNoOfPodsToEvictTotal == nil || *config.MaxNoOfPodsToEvictTotal != 7 || !config.DryRun || config.DeschedulingInterval.Seconds() != 30 {
		t.Errorf("limit %v, dry run %t, interval %v", config.MaxNoOfPodsToEvictTotal, config.DryRun, config.DeschedulingInterval)
	}
}

// TestTheModeUpstreamIsLowNodeLoad, and nothing of the planner.
func TestTheModeUpstreamIsLowNodeLoad(t *testing.T) {
	_, config, _ := deschedulerOf(t, map[string]any{"config": map[string]any{"mode": "upstream"}})
	profile := config.Profiles[0]
	var configured []string
	for _, entry := range profile.PluginConfig {
		configured = append(configured, entry.Name)
	}
	if diff := cmp.Diff([]string{"MigrationController", "LowNodeLoad"}, configured); diff != "" || profile.Plugins.Balance.Enabled[0].Name != "LowNodeLoad" {
		t.Errorf("plugin %q, arguments (-want +got):\n%s", profile.Plugins.Balance.Enabled[0].Name, diff)
	}
	args := argsOf(t, config, "LowNodeLoad")
	want := map[string]any{"lowThresholds": map[string]any{"cpu": 45.0, "memory": 55.0}, "highThresholds": map[string]any{"cpu": 75.0, "memory": 80.0}}
	got := map[string]any{"lowThresholds": args["lowThresholds"], "highThresholds": args["highThresholds"]}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("thresholds (-want +got):\n%s", diff)
	}
}

// TestNoPodOfTheSystemIsEvicted, whatever the values say.
func TestNoPodOfTheSystemIsEvicted(t *testing.T) {
	for name, tc := range map[string]struct {
		excluded []any
		want     []any
	}{
		"by default":      {excluded: []any{}, want: []any{"kube-system", "koordinator-system"}},
		"and others":      {excluded: []any{"databases"}, want: []any{"kube-system", "koordinator-system", "databases"}},
		"said once again": {excluded: []any{"kube-system"}, want: []any{"kube-system", "koordinator-system"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, config, _ := deschedulerOf(t, map[string]any{"config": map[string]any{"mode": "upstream", "excludedNamespaces": tc.excluded}})
			for plugin, field := range map[string]string{"LowNodeLoad": "evictableNamespaces", "MigrationController": "namespaces"} {
				got, _, _ := unstructured.NestedSlice(argsOf(t, config, plugin), field, "exclude")
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("namespaces that %s excludes (-want +got):\n%s", plugin, diff)
				}
			}
		})
	}
}

// TestTheDeschedulerDeletesPodsOnlyWhereThatIsAskedFor: the right, and the policy that needs it.
func TestTheDeschedulerDeletesPodsOnlyWhereThatIsAskedFor(t *testing.T) {
	byPolicy := map[string]any{"migrationController": map[string]any{"evictionPolicy": "Delete"}}
	if _, _, deletes := deschedulerOf(t, nil); deletes {
		t.Error("pods may be deleted by default")
	}
	if _, config, deletes := deschedulerOf(t, map[string]any{"deletePods": true, "config": byPolicy}); !deletes || argsOf(t, config, "MigrationController")["evictionPolicy"] != "Delete" {
		t.Errorf("the right is granted: %t", deletes)
	}
	refused := map[string]map[string]any{
		"evictionPolicy Delete requires descheduler.deletePods": {"config": byPolicy},
		"migrationController":  {"config": map[string]any{"migrationController": map[string]any{"namespaces": map[string]any{}}}},
		"loadAwareRebalancing": {"config": map[string]any{"loadAwareRebalancing": map[string]any{"mode": "Upstream"}}},
		"lowNodeLoad":          {"config": map[string]any{"lowNodeLoad": map[string]any{"evictableNamespaces": map[string]any{}}}},
	}
	for want, values := range refused {
		options, err := Options{Values: map[string]any{"descheduler": values}}.withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := renderRelease(t.Context(), options); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v; want one about %q", err, want)
		}
	}
}

func TestADisabledDeschedulerLeavesNothing(t *testing.T) {
	for _, object := range objectsOf(t, renderForTest(t, map[string]any{"descheduler": map[string]any{"enabled": false}})) {
		if strings.HasPrefix(object.GetName(), "koord-descheduler") {
			t.Errorf("%s %s is rendered", object.GetKind(), object.GetName())
		}
	}
}

func TestEvictionsAreMigratedOnlyWhereADeschedulerRuns(t *testing.T) {
	values := map[string]any{"admission": map[string]any{"migrateOnEviction": true}, "descheduler": map[string]any{"enabled": false}}
	options, err := Options{Values: values}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := renderRelease(t.Context(), options); err == nil || !strings.Contains(err.Error(), "requires descheduler.enabled") {
		t.Errorf("error is %v; want that koord-descheduler is required", err)
	}
}
