package koordlet

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/agent/state"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	decision "koordinator.sh/koord/decision/noderesource/enforcement"
)

const (
	// evaluateInterval is how often it is asked whether the agent enforces.
	evaluateInterval = time.Second
	// probeInterval is how often it is tried whether files can be kept and cgroups written while that works, and probeAgain while it does
	// not. Nothing else shows it before a new pod comes, of which nothing is set then.
	probeInterval, probeRetryInterval = 30 * time.Second, 5 * time.Second
)

// enforcingStatus reports whether the agent can limit best-effort pods. Its methods may be called at the same time.
type enforcingStatus struct {
	options     *Options
	cluster     *state.State
	enforcement *enforcement
	started     time.Time

	mu     sync.Mutex
	steady decision.Steady
	// changed is when the agent began to enforce, or ceased to.
	changed time.Time
	// unwritable is why the state directory takes no files, and readOnly where cgroups are mounted read-only, as of the latest probe.
	unwritable error
	readOnly   string
	probed     time.Time
}

func newEnforcingStatus(options *Options, cluster *state.State, enforcement *enforcement) *enforcingStatus {
	s := &enforcingStatus{options: options, cluster: cluster, enforcement: enforcement, started: options.Clock.Now()}
	s.evaluate(context.Background())
	return s
}

// run follows how the agent stands until the context ends.
func (s *enforcingStatus) run(ctx context.Context) {
	ticker := s.options.Clock.NewTicker(evaluateInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C():
			s.evaluate(ctx)
		}
	}
}

// evaluate takes the facts once, and logs when another verdict is in force.
func (s *enforcingStatus) evaluate(ctx context.Context) {
	now := s.options.Clock.Now()
	s.probe(now)
	latest := decision.Decide(s.facts(now))
	s.mu.Lock()
	before := s.steady.Told
	s.steady = s.steady.Next(latest, now)
	told := s.steady.Told
	if before.Reason == "" || before.Enforcing != told.Enforcing {
		s.changed = now
	}
	s.mu.Unlock()
	switch {
	case before.Reason == told.Reason:
	case !told.Enforcing:
		klog.FromContext(ctx).Error(errors.New(told.Message), "Koordlet cannot limit best-effort pods, so the node offers no batch or mid resources", "reason", told.Reason)
	case before.Reason != "":
		klog.FromContext(ctx).Info("Koordlet can limit best-effort pods again")
	}
}

// probe tries what only shows when a new pod comes. An agent that writes nothing tries nothing.
func (s *enforcingStatus) probe(now time.Time) {
	s.mu.Lock()
	due, age := probeInterval, now.Sub(s.probed)
	if s.unwritable != nil || s.readOnly != "" {
		due = probeRetryInterval
	}
	s.mu.Unlock()
	if s.options.ReadOnly || age >= 0 && age < due {
		return
	}
	unwritable, readOnly := writable(s.options.StateDirectory), s.mountedReadOnly()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unwritable, s.readOnly, s.probed = unwritable, readOnly, now
}

// mountedReadOnly is where the cgroup of best-effort pods is when nothing in there can be written; empty when it can. Whether a single
// file may be, the kernel says when it is.
func (s *enforcingStatus) mountedReadOnly() string {
	layout := s.enforcement.layout
	_, file, known := cgroup.CPUShares.Locate(layout, layout.QoS(corev1.PodQOSBestEffort))
	if !known {
		return ""
	}
	if errors.Is(unix.Access(filepath.Join(s.options.Cgroup, file), unix.W_OK), unix.EROFS) {
		return s.options.Cgroup
	}
	return ""
}

func (s *enforcingStatus) facts(now time.Time) decision.Facts {
	out := decision.Facts{ReadOnly: s.options.ReadOnly, OriginalsUnread: text(s.enforcement.executor.LoadErr()), OriginalsUnsaved: text(s.enforcement.executor.SaveErr())}
	s.mu.Lock()
	if out.OriginalsUnsaved == "" {
		out.OriginalsUnsaved = text(s.unwritable)
	}
	out.CgroupsReadOnly = s.readOnly
	s.mu.Unlock()
	if !s.cluster.Known() {
		out.Unread = now.Sub(s.started)
	}
	out.Features = s.protecting()
	return out
}

// protecting are the features without which best-effort pods are held back by nothing: what all of them may use together, and what
// each may.
func (s *enforcingStatus) protecting() []decision.Feature {
	layout := s.enforcement.layout
	class := layout.QoS(corev1.PodQOSBestEffort)
	together, each := (&qos.Suppression{}).Name(), qos.BatchResource{}.Name()
	ofClass := s.enforcement.executor.OwnerStatus(together, func(of string) bool { return of == class })
	ofPods := s.enforcement.executor.OwnerStatus(each, func(string) bool { return true })
	return []decision.Feature{
		{Name: together, Whole: true, Wanted: ofClass.Wanted, Refused: ofClass.Refused, Err: text(ofClass.Err)},
		{Name: each, Wanted: ofPods.Wanted, Refused: ofPods.Refused, Err: text(ofPods.Err)},
	}
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// verdict is the one in force.
func (s *enforcingStatus) verdict() decision.Verdict {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.steady.Told
}

// ready says why the agent is not ready; nil when it is. A read-only agent is.
func (s *enforcingStatus) ready() error {
	if verdict := s.verdict(); !verdict.Enforcing && verdict.Reason != slov1alpha1.ReasonReadOnly {
		return fmt.Errorf("%s: %s", verdict.Reason, verdict.Message)
	}
	return nil
}

// conditions are those of the NodeMetric: the verdict in force.
func (s *enforcingStatus) conditions() []metav1.Condition {
	s.mu.Lock()
	defer s.mu.Unlock()
	condition := s.steady.Told.Condition()
	condition.LastTransitionTime = metav1.NewTime(s.changed)
	return []metav1.Condition{condition}
}
