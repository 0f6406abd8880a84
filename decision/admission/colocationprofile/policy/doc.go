// Package policy compiles ClusterColocationProfiles to one MutatingAdmissionPolicy, so that creating a pod asks no webhook.
//
// All profiles go into one policy with one JSON patch: profiles are matched with the pod as it came, apply in the order of
// their names and are followed by the translation of resources. One policy for each profile could not guarantee this,
// because the order among policies is not defined. A field that profiles write becomes a chain of variables, one a step; the last of
// the chain is what the patch writes.
//
// A pod that a profile selects which CEL cannot express is left to the webhook as a whole, and so is a pod with resources
// for the pod as a whole.
package policy
