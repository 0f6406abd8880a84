// Package diagnostics serves diagnostics.koordinator.sh/v1alpha1 as an aggregated API: kube-apiserver forwards to it what
// users ask, so their own credentials and RBAC apply, and stock kubectl can ask.
//
// PodExplanation and NodeExplanation are questions: they can only be created, the answer comes back in the status, and
// nothing is stored. Asking takes the right to create the question and the right to get the pod or node it is about.
// Questions about pods are answered by the scheduler, questions about nodes from the manager's own caches.
package diagnostics
