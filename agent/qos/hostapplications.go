package qos

import (
	"fmt"

	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/decision/nodeqos/groupidentity"
)

// applicationWishes are the identities of applications outside of Kubernetes. One whose cgroup is not known has none, and one
// that does not run has no cgroup.
func applicationWishes(in NodeSnapshot, kernel groupidentity.Capability) []executor.DesiredValue {
	var values []executor.DesiredValue
	for i := range in.SLO.HostApplications {
		application := &in.SLO.HostApplications[i]
		at, err := in.Layout.HostApplication(application)
		if err != nil {
			continue
		}
		identity := groupidentity.OfHostApplication(in.SLO.ResourceQOSStrategy, application.QoS)
		if identity.Source == groupidentity.FromReset {
			continue
		}
		for _, desired := range identityWishes(at, identity, identity.PodValues(kernel)) {
			desired.Why = fmt.Sprintf("application %.64q: %s", application.Name, desired.Why)
			values = append(values, desired)
		}
	}
	return values
}
