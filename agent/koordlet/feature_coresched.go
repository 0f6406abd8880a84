package koordlet

import (
	"fmt"
	"strconv"

	"koordinator.sh/koord/agent/diagnostics"
	"koordinator.sh/koord/agent/host/cgroup"
	hostcoresched "koordinator.sh/koord/agent/host/coresched"
	"koordinator.sh/koord/agent/qos"
	"koordinator.sh/koord/agent/qos/coresched"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

// coreSchedFeature keeps pods of different groups off one physical core. It sets cookies of processes, and cpu.idle.
func coreSchedFeature() FeatureSpec {
	return FeatureSpec{
		Spec:   nodefeature.CoreSched,
		Kernel: []cgroup.Setting{cgroup.CPUIdle},
		Values: func(b *featureBuild) qos.Feature { return reconcilerOf[*coresched.Reconciler](b.reconcilers) },
		Reconciler: func(b *featureBuild) (qos.Reconciler, error) {
			return orEmpty(coresched.New(coresched.Options{
				Kernel: hostcoresched.Real{Proc: b.trees.proc}, Proc: b.trees.proc, Cookies: b.store("coresched"), Audit: b.audit, Clock: b.options.Clock,
			}))
		},
		Status: func(e *explainer, _ bool) diagnostics.FeatureStatus { return e.coreSchedStatus() },
		Metrics: []diagnostics.Metric{{
			Name: "pod_core_sched_cookie", Help: "The cookie of a pod under core scheduling; always 1.",
			Labels: []string{"node", "pod_namespace", "pod_name", "core_sched_group", "core_sched_cookie"},
		}},
		Collect: (*explainer).collectCookies,
	}
}

func (e *explainer) coreSchedStatus() diagnostics.FeatureStatus {
	state := reconcilerOf[*coresched.Reconciler](e.enforcement.reconcilers).State()
	if state.At.IsZero() {
		err := hostcoresched.Supported(hostcoresched.Real{Proc: e.enforcement.proc})
		out := diagnostics.FeatureStatus{Supported: yes(err == nil)}
		if err != nil {
			out.State = err.Error()
		}
		return out
	}
	out := diagnostics.FeatureStatus{Supported: yes(state.Unavailable == ""), State: state.Unavailable, Active: yes(len(state.Pods) > 0), Effective: yes(len(state.Cookies) > 0)}
	if state.Unavailable == "" {
		out.State = fmt.Sprintf("%d pods, %d cookies", len(state.Pods), len(state.Cookies))
		if len(state.Own) > 0 {
			out.State += fmt.Sprintf("; %d threads keep a cookie that they set themselves", len(state.Own))
		}
	}
	return out
}

// collectCookies emits the cookie of each pod in a group.
func (e *explainer) collectCookies(emit diagnostics.Emit) {
	state := reconcilerOf[*coresched.Reconciler](e.enforcement.reconcilers).State()
	for _, pod := range e.cluster.Pods() {
		group, grouped := state.Pods[string(pod.UID)]
		if cookie, given := state.Cookies[group.ID]; grouped && group.Cookie && given {
			emit("pod_core_sched_cookie", 1, pod.Object.Namespace, pod.Object.Name, group.ID, strconv.FormatUint(cookie, 10))
		}
	}
}
