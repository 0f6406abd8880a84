// Package labelpolicy expresses the rules of podvalidation that CEL can say as a ValidatingAdmissionPolicy: the protocol
// labels do not change, the reserve pod's annotation is the scheduler's, batch resources need QoS BE, and QoS class and
// priority go together. The API server then decides them itself, also while koord-manager is down. What needs quotas, the
// sum of a pod's CPUs, or only warns is left to the webhook.
package labelpolicy
