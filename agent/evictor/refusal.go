package evictor

import (
	"strings"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/nodeqos/eviction"
)

// refusal is what became of asking for a pod.
type refusal struct {
	at  time.Time
	why eviction.Refusal
	// loggedAt is when the log had each last.
	loggedAt map[eviction.Refusal]time.Time
}

// severalBudgets is by what words an API server refuses to evict a pod that more than one PodDisruptionBudget covers, whether they would
// allow it or not. Its status is that of an internal error, without a cause.
const severalBudgets = "more than one PodDisruptionBudget"

// isBudget reports whether a PodDisruptionBudget is why an eviction was refused. An API server that is busy gives the same status without
// that cause.
func isBudget(err error) bool {
	if apierrors.IsTooManyRequests(err) {
		return apierrors.HasStatusCause(err, policyv1.DisruptionBudgetCause)
	}
	return apierrors.IsInternalError(err) && strings.Contains(err.Error(), severalBudgets)
}

// isClusterBudget reports whether koord-manager refused an eviction because all node agents together evicted as much as they may.
func isClusterBudget(err error) bool {
	return apierrors.IsTooManyRequests(err) && apierrors.HasStatusCause(err, extension.CauseClusterEvictionBudget)
}

// within reports whether something was not longer ago than a while. What lies ahead was timed by a clock that was set back since.
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
