package protection

import "slices"

// ConfigMapName is the ConfigMap, in the namespace of the release, that says which protections the values of the chart turn on. Its
// keys are those of Protection, its values the specs of the objects.
const ConfigMapName = "koordinator-protections"

// Kinds of protections, all of group admissionregistration.k8s.io.
const (
	MutatingWebhooks   = "MutatingWebhookConfiguration"
	ValidatingWebhooks = "ValidatingWebhookConfiguration"
	Policy             = "ValidatingAdmissionPolicy"
	Binding            = "ValidatingAdmissionPolicyBinding"
	MutatingPolicy     = "MutatingAdmissionPolicy"
	MutatingBinding    = "MutatingAdmissionPolicyBinding"
)

// Keeper is who restores a protection.
type Keeper string

const (
	// ByManager are those that koord-manager writes, and writes again within seconds.
	ByManager Keeper = "koord-manager"
	// ByChart are those that the chart creates. koord-manager may not write them, because the permission to create policies cannot be
	// limited to a name: it only reports that they are gone.
	ByChart Keeper = "chart"
)

// Protection is one object.
type Protection struct {
	Kind, Name string
	Keeper     Keeper
	// Lost says what is let through without it, as the rest of a sentence that begins with "Without it".
	Lost string
	// Switch is the value of the chart that turns it off.
	Switch string
}

// Key names it in the ConfigMap.
func (p Protection) Key() string { return p.Kind + "." + p.Name }

// All are the protections there are.
func All() []Protection {
	const (
		webhooks    = "admission.enabled"
		allocations = "anyone who may edit a pod can claim CPUs, devices and reservations, and use up the eviction budget of its node, by annotations"
		bindings    = "a binding can change the QoS class, the priority and the quota with which a pod was admitted"
		ownNode     = "the token of one node's koordlet can write the NodeMetrics, topologies and devices of all nodes"
		profiles    = "colocation profiles that only the API server applies are not applied while koord-manager is down"
		labels      = "the label rules of pods are not enforced while koord-manager is down"
	)
	return []Protection{
		{MutatingWebhooks, "koordinator-admission", ByChart, "colocation profiles are not applied, and batch and mid pods are not translated", webhooks},
		{ValidatingWebhooks, "koordinator-admission", ByChart, "pods, nodes, quotas and slo-controller-config are not validated", webhooks},
		{Policy, "koordinator-allocations", ByChart, allocations, "admission.protectAllocations"},
		{Binding, "koordinator-allocations", ByChart, allocations, "admission.protectAllocations"},
		{Policy, "koordinator-bindings", ByChart, bindings, webhooks},
		{Binding, "koordinator-bindings", ByChart, bindings, webhooks},
		{Policy, "koordlet-own-node", ByChart, ownNode, "koordlet.restrictToOwnNode"},
		{Binding, "koordlet-own-node", ByChart, ownNode, "koordlet.restrictToOwnNode"},
		{MutatingPolicy, "koordinator-colocation-profiles", ByManager, profiles, "admission.policies"},
		{MutatingBinding, "koordinator-colocation-profiles", ByManager, profiles, "admission.policies"},
		{Policy, "koordinator-pod-labels", ByManager, labels, "admission.policies"},
		{Binding, "koordinator-pod-labels", ByManager, labels, "admission.policies"},
	}
}

// Expected are the protections that the data of the ConfigMap turns on, in the order of All.
func Expected(data map[string]string) []Protection {
	return slices.DeleteFunc(All(), func(p Protection) bool {
		_, on := data[p.Key()]
		return !on
	})
}

// Resource is the plural name of a kind in the API.
func Resource(kind string) string {
	return map[string]string{
		MutatingWebhooks: "mutatingwebhookconfigurations", ValidatingWebhooks: "validatingwebhookconfigurations",
		Policy: "validatingadmissionpolicies", Binding: "validatingadmissionpolicybindings",
		MutatingPolicy: "mutatingadmissionpolicies", MutatingBinding: "mutatingadmissionpolicybindings",
	}[kind]
}
