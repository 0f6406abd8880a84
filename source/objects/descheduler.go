package objects

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"koordinator.sh/koord/api/descheduler/v1alpha2"
	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/loopguard"
	"koordinator.sh/koord/decision/descheduling/lownodeload"
	"koordinator.sh/koord/decision/descheduling/migration"
	"koordinator.sh/koord/decision/descheduling/rebalance"
)

// DeschedulerConfigMap is the ConfigMap of koord-descheduler, in the namespace of the system, and its only key.
const DeschedulerConfigMap = "koord-descheduler-config"

const (
	defaultDeschedulerProfile = "koord-descheduler"
	defaultDeschedulingPeriod = 2 * time.Minute
)

// Descheduler is the configuration of koord-descheduler, as far as it says what is moved.
type Descheduler struct {
	Interval time.Duration
	DryRun   bool
	// Nodes that are looked at.
	Nodes labels.Selector
	// MaxPerNode, MaxPerNamespace and MaxTotal bound the evictions of a round; nil is no bound.
	MaxPerNode, MaxPerNamespace, MaxTotal *int64
	Profiles                              []DeschedulerProfile
}

// DeschedulerProfile is a set of plugins with their arguments.
type DeschedulerProfile struct {
	Name  string
	Nodes labels.Selector
	// Plugins that evict, in the order in which they run.
	Plugins []string
	// LowNodeLoad are the arguments of that plugin; nil where it is not enabled.
	LowNodeLoad *lownodeload.Args
	// Rebalance are the arguments of LoadAwareRebalancing; nil where it is not enabled.
	Rebalance *rebalance.Args
	// Migration says which pods may be evicted.
	Migration *migration.Args
}

// ShippedDescheduler is what the chart configures when no value is changed.
func ShippedDescheduler(systemNamespace string) *Descheduler {
	excluded := []string{"kube-system"}
	if systemNamespace != "kube-system" {
		excluded = append(excluded, systemNamespace)
	}
	may := migration.DefaultArgs()
	may.Namespaces = &migration.Namespaces{Exclude: excluded}
	return &Descheduler{Interval: defaultDeschedulingPeriod, Nodes: labels.Everything(), Profiles: []DeschedulerProfile{{
		Name: defaultDeschedulerProfile, Nodes: labels.Everything(), Plugins: []string{rebalance.PluginName}, Rebalance: rebalance.DefaultArgs(), Migration: may,
	}}}
}

// Runs says whether a profile enables a plugin.
func (d *Descheduler) Runs(plugin string) bool {
	return slices.ContainsFunc(d.Profiles, func(profile DeschedulerProfile) bool { return slices.Contains(profile.Plugins, plugin) })
}

// HistoryWindow is how long moves count for whether a workload goes in circles.
func (d *Descheduler) HistoryWindow() time.Duration {
	var enabled []*rebalance.Args
	for i := range d.Profiles {
		if args := d.Profiles[i].Rebalance; args != nil {
			enabled = append(enabled, args)
		}
	}
	return rebalance.LongestHistory(enabled)
}

// Guard finds the workloads that koord-descheduler does not move because they go in circles. It also counts evictions by other components,
// which it alone remembers.
func (d *Descheduler) Guard(jobs []schedulingv1alpha1.PodMigrationJob, now time.Time) loopguard.Guard {
	return loopguard.NewGuard(loopguard.History{Moves: loopguard.MovesOf(jobs), Now: now, Window: d.HistoryWindow()})
}

// ReadDescheduler reads the configuration from the data of its ConfigMap. The error names the field that cannot be read.
func ReadDescheduler(data map[string]string) (*Descheduler, error) {
	document, found := data[DeschedulerConfigMap]
	if keys := slices.Collect(maps.Keys(data)); !found && len(keys) == 1 {
		document, found = data[keys[0]], true
	}
	if !found {
		return nil, fmt.Errorf("key %q is missing", DeschedulerConfigMap)
	}
	read := v1alpha2.DeschedulerConfiguration{}
	if err := yaml.Unmarshal([]byte(document), &read); err != nil {
		return nil, fmt.Errorf("read the DeschedulerConfiguration: %w", err)
	}
	out := &Descheduler{
		Interval: defaultDeschedulingPeriod, DryRun: read.DryRun,
		MaxPerNode: read.MaxNoOfPodsToEvictPerNode, MaxPerNamespace: read.MaxNoOfPodsToEvictPerNamespace, MaxTotal: read.MaxNoOfPodsToEvictTotal,
	}
	if read.DeschedulingInterval != nil {
		out.Interval = read.DeschedulingInterval.Duration
	}
	var err error
	if out.Nodes, err = nodesOf(read.NodeSelector); err != nil {
		return nil, fmt.Errorf("nodeSelector: %w", err)
	}
	for i := range read.Profiles {
		profile, err := readProfile(&read.Profiles[i])
		if err != nil {
			return nil, fmt.Errorf("profiles[%d]: %w", i, err)
		}
		out.Profiles = append(out.Profiles, profile)
	}
	return out, nil
}

func nodesOf(selector *metav1.LabelSelector) (labels.Selector, error) {
	if selector == nil {
		return labels.Everything(), nil
	}
	return metav1.LabelSelectorAsSelector(selector)
}

func readProfile(read *v1alpha2.DeschedulerProfile) (DeschedulerProfile, error) {
	out := DeschedulerProfile{Name: read.Name, Migration: &migration.Args{}}
	if out.Name == "" {
		out.Name = defaultDeschedulerProfile
	}
	var err error
	if out.Nodes, err = nodesOf(read.NodeSelector); err != nil {
		return out, fmt.Errorf("nodeSelector: %w", err)
	}
	if read.Plugins != nil {
		for _, plugin := range slices.Concat(read.Plugins.Deschedule.Enabled, read.Plugins.Balance.Enabled) {
			out.Plugins = append(out.Plugins, plugin.Name)
		}
	}
	if err := pluginArgs(read, migration.PluginName, out.Migration); err != nil {
		return out, err
	}
	migration.SetDefaults(out.Migration)
	if slices.Contains(out.Plugins, rebalance.PluginName) {
		out.Rebalance = &rebalance.Args{}
		if err := pluginArgs(read, rebalance.PluginName, out.Rebalance); err != nil {
			return out, err
		}
		rebalance.SetDefaults(out.Rebalance)
		if errs := rebalance.Validate(out.Rebalance); len(errs) > 0 {
			return out, fmt.Errorf("arguments of %s: %w", rebalance.PluginName, errs.ToAggregate())
		}
	}
	if !slices.Contains(out.Plugins, lownodeload.PluginName) {
		return out, nil
	}
	out.LowNodeLoad = &lownodeload.Args{}
	if err := pluginArgs(read, lownodeload.PluginName, out.LowNodeLoad); err != nil {
		return out, err
	}
	lownodeload.SetDefaults(out.LowNodeLoad)
	if errs := lownodeload.Validate(out.LowNodeLoad); len(errs) > 0 {
		return out, fmt.Errorf("arguments of %s: %w", lownodeload.PluginName, errs.ToAggregate())
	}
	return out, nil
}

// pluginArgs reads the arguments of a plugin; a plugin without any keeps into as it is.
func pluginArgs(profile *v1alpha2.DeschedulerProfile, name string, into any) error {
	for i := range profile.PluginConfig {
		if entry := &profile.PluginConfig[i]; entry.Name == name && len(entry.Args.Raw) > 0 {
			if err := json.Unmarshal(entry.Args.Raw, into); err != nil {
				return fmt.Errorf("arguments of %s: %w", name, err)
			}
		}
	}
	return nil
}
