package configuration

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"koordinator.sh/koord/api/descheduler/v1alpha2"
)

// The defaults of upstream, but for the interval, which upstream has none for: its chart has this one.
const (
	defaultInterval    = 2 * time.Minute
	defaultName        = "koord-descheduler"
	defaultNamespace   = "koordinator-system"
	defaultLock        = "leases"
	defaultContentType = "application/vnd.kubernetes.protobuf"
	defaultQPS         = 50
	defaultBurst       = 100
)

// setDefaults fills in what is not set.
func setDefaults(c *v1alpha2.DeschedulerConfiguration) {
	election := &c.LeaderElection
	setPointer(&election.LeaderElect, true)
	setValue(&election.LeaseDuration, metav1.Duration{Duration: 15 * time.Second})
	setValue(&election.RenewDeadline, metav1.Duration{Duration: 10 * time.Second})
	setValue(&election.RetryPeriod, metav1.Duration{Duration: 2 * time.Second})
	setValue(&election.ResourceLock, defaultLock)
	setValue(&election.ResourceName, defaultName)
	setValue(&election.ResourceNamespace, defaultNamespace)
	setValue(&c.ClientConnection.ContentType, defaultContentType)
	setValue(&c.ClientConnection.QPS, defaultQPS)
	setValue(&c.ClientConnection.Burst, defaultBurst)
	setPointer(&c.EnableProfiling, true)
	if *c.EnableProfiling {
		setPointer(&c.EnableContentionProfiling, true)
	}
	setPointer(&c.DeschedulingInterval, metav1.Duration{Duration: defaultInterval})
	if len(c.Profiles) == 0 {
		c.Profiles = []v1alpha2.DeschedulerProfile{{}}
	}
	if len(c.Profiles) == 1 {
		setValue(&c.Profiles[0].Name, defaultName)
	}
}

func setValue[T comparable](into *T, value T) {
	var zero T
	if *into == zero {
		*into = value
	}
}

func setPointer[T any](into **T, value T) {
	if *into == nil {
		*into = &value
	}
}

// enabled are the plugins of an extension point: the default ones that are not disabled, then those that are enabled.
func enabled(set v1alpha2.PluginSet, defaults ...string) []string {
	disabled := func(name string) bool {
		return slices.ContainsFunc(set.Disabled, func(plugin v1alpha2.Plugin) bool { return plugin.Name == name || plugin.Name == "*" })
	}
	names := slices.DeleteFunc(slices.Clone(defaults), disabled)
	for _, plugin := range set.Enabled {
		if !slices.Contains(names, plugin.Name) {
			names = append(names, plugin.Name)
		}
	}
	return names
}
