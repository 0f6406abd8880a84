// Package webhooks serves the admission of pods and keeps it registered: colocation profiles are compiled to a MutatingAdmissionPolicy
// that the API server applies itself, the mutating webhook sees only the pods that the policy cannot express, and the validating
// webhook sees only pods with co-location. When koord-manager is down, all other pods, and those in kube-system and the manager's
// namespace, are created as if it did not exist. It also serves the admission of ElasticQuotas and of the configuration, whose
// decisions are in packages elasticquota and configmap.
package webhooks
