package evictor

import (
	"time"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"koordinator.sh/koord/decision/eviction"
)

// refusal is what became of asking for a pod.
type refusal struct {
	at  time.Time
	why eviction.Refusal
	// told is when the log had each last.
	told map[eviction.Refusal]time.Time
}

// isBudget tells whether a PodDisruptionBudget is why an eviction was refused. An API server that is busy gives the same status without
// that cause.
func isBudget(err error) bool {
	return apierrors.IsTooManyRequests(err) && apierrors.HasStatusCause(err, policyv1.DisruptionBudgetCause)
}

// within tells whether something was not longer ago than a while. What lies ahead was timed by a clock that was set back since.
func within(now, at time.Time, a time.Duration) bool {
	age := now.Sub(at)
	return age >= 0 && age < a
}

// earlier of two times.
func earlier(a, b time.Time) time.Time {
	if a.After(b) {
		return b
	}
	return a
}
