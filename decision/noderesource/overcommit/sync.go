package overcommit

import (
	"fmt"
	"math"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/api/configuration"
	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// FieldManager is the name under which the controller writes node.status.
const FieldManager = "koord-manager"

// NeedsSync compares a published resource with the computed one. The controller writes when the state is Pending or
// NotPublished: the resource appears, goes, changes by more than resourceDiffThreshold of what is published, or differs at
// all while updateTimeThresholdSeconds have passed since the last write. A zero lastSync counts as long ago.
// A value that could not be computed is never written.
func NeedsSync(published *int64, computed Value, lastSync time.Time, strategy configuration.ColocationStrategy, now time.Time) (diagnosticsv1alpha1.SyncState, string) {
	switch {
	case computed.Unknown != "":
		return diagnosticsv1alpha1.SyncUnknown, "not computed: " + computed.Unknown
	case computed.Withdrawn && published == nil:
		return diagnosticsv1alpha1.Withdrawn, "withdrawn: " + computed.Reason
	case computed.Withdrawn:
		return diagnosticsv1alpha1.Pending, "to be withdrawn: " + computed.Reason
	case published == nil:
		return diagnosticsv1alpha1.NotPublished, "not in node.status yet; written at the next reconciliation"
	case *published == computed.Value:
		return diagnosticsv1alpha1.InSync, ""
	}
	threshold := orDefault(strategy.ResourceDiffThreshold, defaultDiffThreshold)
	difference := math.Abs(float64(computed.Value) - float64(*published))
	share := 100.0
	if *published != 0 {
		share = difference / math.Abs(float64(*published)) * 100
	}
	if difference > math.Abs(float64(*published))*threshold {
		return diagnosticsv1alpha1.Pending, fmt.Sprintf("differs by %.3g%%, more than resourceDiffThreshold (%.3g%%); written at the next reconciliation",
			share, threshold*100)
	}
	every := seconds(orDefault(strategy.UpdateTimeThresholdSeconds, defaultUpdateSeconds))
	elapsed := now.Sub(lastSync)
	if lastSync.IsZero() || elapsed >= every {
		return diagnosticsv1alpha1.Pending, fmt.Sprintf("differs by %.3g%%, and updateTimeThresholdSeconds (%s) have passed; written at the next reconciliation", share, every)
	}
	// A last write in the future is a clock that was set back; waiting longer than the threshold is never right.
	return diagnosticsv1alpha1.WithinThreshold, fmt.Sprintf("differs by %.3g%%, within resourceDiffThreshold (%.3g%%); written within %s",
		share, threshold*100, round(every-max(elapsed, 0)))
}

// Published reads a resource from node.status.allocatable; nil when it is not there.
func Published(node *corev1.Node, name corev1.ResourceName) *int64 {
	quantity, ok := node.Status.Allocatable[name]
	if !ok {
		return nil
	}
	return new(quantity.Value())
}

// LastSync is when the controller last changed the node's status, as the node's managed fields say; zero when they do not.
func LastSync(node *corev1.Node) time.Time {
	var last time.Time
	for _, entry := range node.ManagedFields {
		if entry.Manager == FieldManager && entry.Subresource == "status" && entry.Time != nil && entry.Time.After(last) {
			last = entry.Time.Time
		}
	}
	return last
}

func (in *NodeInput) lastSync() time.Time {
	if !in.LastSync.IsZero() {
		return in.LastSync
	}
	return LastSync(in.Node)
}

// Sync is what follows from a result for the node's status.
type Sync struct {
	// Write is true when any of the resources must be written; then all of them are.
	Write bool
	// Reason for writing, or empty.
	Reason string
	// Next is when the answer can change although no object does: when the measurements turn too old to be believed, or a
	// difference within the threshold has waited long enough. Zero means never.
	Next time.Time
}

// Sync compares a result with the node it was computed from.
func (r Result) Sync(in NodeInput) Sync {
	out := Sync{Next: r.Expires}
	if name := r.movedThirdParty(in.Node); name != "" {
		out.Write, out.Reason = true, string(name)+": another scheduler took resources or returned them"
	}
	for _, name := range Resources() {
		computed, _ := r.Of(name)
		state, reason := NeedsSync(Published(in.Node, name), computed, in.lastSync(), in.Strategy.Strategy, in.Now)
		switch state {
		case diagnosticsv1alpha1.Pending, diagnosticsv1alpha1.NotPublished:
			if !out.Write {
				out.Write, out.Reason = true, fmt.Sprintf("%s: %s", name, reason)
			}
		case diagnosticsv1alpha1.WithinThreshold:
			every := seconds(orDefault(in.Strategy.Strategy.UpdateTimeThresholdSeconds, defaultUpdateSeconds))
			if due := in.lastSync().Add(every); out.Next.IsZero() || due.Before(out.Next) {
				out.Next = due
			}
		}
	}
	return out
}
