// Package nodefit says why a plugin of Kubernetes' own scheduler keeps a pod off a node: cordons, taints, node affinity, host ports
// and resources. Decide runs the checks that need no more than API objects. The scheduler, which asks the plugins themselves, takes
// from here what their refusals mean, so that the same refusal reads the same whichever program answers.
package nodefit
