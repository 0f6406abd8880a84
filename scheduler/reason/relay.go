package reason

import fwk "k8s.io/kube-scheduler/framework"

// Relay is a plugin that asks other plugins in its Filter, and returns their refusals as its own.
type Relay interface {
	fwk.Plugin
	// Relays is true for the plugins that it asks.
	Relays(other fwk.Plugin) bool
}
