package explain

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/gang"
	"koordinator.sh/koord/decision/quota"
	"koordinator.sh/koord/scheduler/plugins/coscheduling"
	"koordinator.sh/koord/scheduler/plugins/elasticquota"
)

// maxPreemptedNodes bounds the nodes on which evictions are tried. The scheduler itself looks at a random part of the nodes
// in a large cluster.
const maxPreemptedNodes = 200

// preemptor is a PostFilter plugin that evicts pods. Its evaluator has nobody to carry evictions out, and runs dry only.
type preemptor struct {
	*preemption.Evaluator
	// declines says why the plugin does not look for victims; empty when it does. It may be nil.
	declines func(w *world, pod *corev1.Pod) string
}

// adoptPreemptors lists the plugins that evict pods, in the order in which the framework asks them.
func (s *simulation) adoptPreemptors(profile *config.KubeSchedulerProfile, created map[string]fwk.Plugin) error {
	if err := s.adoptGangs(profile); err != nil {
		return err
	}
	for _, plugin := range pluginsOf[fwk.PostFilterPlugin](s.framework.ListPlugins().PostFilter, created) {
		chooser, ok := plugin.(preemption.Interface)
		if !ok {
			continue
		}
		adopted := preemptor{Evaluator: preemption.NewEvaluator(plugin.Name(), s.framework, chooser, nil)}
		if plugin.Name() == elasticquota.Name {
			declines, err := quotaDeclines(profile)
			if err != nil {
				return err
			}
			adopted.declines = declines
		}
		s.preemptors = append(s.preemptors, adopted)
	}
	return nil
}

// adoptGangs reads whether gangs make room for all of their members at once, which no other plugin then does for one.
func (s *simulation) adoptGangs(profile *config.KubeSchedulerProfile) error {
	object, found := argsOf(profile, coscheduling.Name)
	if !found {
		return nil
	}
	args, err := gang.DecodeArgs(object)
	if err != nil {
		return err
	}
	s.gangsPreempt = *args.EnablePreemption
	return nil
}

func argsOf(profile *config.KubeSchedulerProfile, name string) (runtime.Object, bool) {
	for _, plugin := range profile.PluginConfig {
		if plugin.Name == name {
			return plugin.Args, true
		}
	}
	return nil, false
}

// quotaDeclines repeats what ElasticQuota says in PostFilter before it looks for victims.
func quotaDeclines(profile *config.KubeSchedulerProfile) (func(*world, *corev1.Pod) string, error) {
	object, _ := argsOf(profile, elasticquota.Name)
	args, err := quota.DecodeArgs(object)
	if err != nil {
		return nil, err
	}
	return func(w *world, pod *corev1.Pod) string {
		switch {
		case w.quotas == nil || len(w.quotas.Leaves()) == 0:
			return "there are no quotas"
		case *args.DisableDefaultQuotaPreemption && w.quotas.QuotaOf(pod) == extension.DefaultQuotaName:
			return "pods of the default quota do not preempt each other"
		}
		return ""
	}, nil
}

// errGangsPreempt is why an answer does not say what preemption would do.
var errGangsPreempt = errors.New("what preemption would do was not tried: gangs make room for all of their members at once")

// preempt tells what the plugins that evict pods would do for a pod that no node takes; nil when the profile has none.
func (s *simulation) preempt(ctx context.Context, w *world, e *evaluation) (*diagnosticsv1alpha1.Preemption, error) {
	if _, belongs := gang.KeyOf(e.pod); belongs && s.gangsPreempt {
		return nil, errGangsPreempt
	}
	s.stage.show(w)
	potential, final := e.preemptible()
	tried := potential[:min(maxPreemptedNodes, len(potential))]
	var answer *diagnosticsv1alpha1.Preemption
	for i := range s.preemptors {
		p := &s.preemptors[i]
		if p.declines != nil && p.declines(w, e.pod) != "" {
			continue
		}
		if ok, why := p.PodEligibleToPreemptOthers(ctx, e.pod, e.nominatedStatus()); !ok {
			answer = ineligible(e.pod, p.PluginName, why)
			continue
		}
		found, err := s.dryRun(ctx, p, e, tried)
		if err != nil {
			return nil, err
		}
		found.finish(len(potential), final)
		if answer = found.answer; answer.Verdict == diagnosticsv1alpha1.PreemptionEvicts {
			break
		}
	}
	return answer, nil
}

// preemptible lists the nodes where evictions may lift everything that refuses, and counts the others.
func (e *evaluation) preemptible() (potential []fwk.NodeInfo, final int) {
	for i, refusals := range e.refusals {
		lasting := false
		for _, r := range refusals {
			lasting = lasting || r.final
		}
		if lasting {
			final++
		} else {
			potential = append(potential, e.nodes[i])
		}
	}
	return potential, final
}

// nominatedStatus is the verdict on the node that the pod is nominated to, nil when there is no such node.
func (e *evaluation) nominatedStatus() *fwk.Status {
	for i, info := range e.nodes {
		if info.Node().Name != e.pod.Status.NominatedNodeName || len(e.refusals[i]) == 0 {
			continue
		}
		first := e.refusals[i][0]
		if first.final {
			return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, first.reason)
		}
		return fwk.NewStatus(fwk.Unschedulable, first.reason)
	}
	return nil
}

func ineligible(pod *corev1.Pod, plugin, why string) *diagnosticsv1alpha1.Preemption {
	if policy := pod.Spec.PreemptionPolicy; policy != nil && *policy == corev1.PreemptNever {
		return &diagnosticsv1alpha1.Preemption{
			Verdict: diagnosticsv1alpha1.PreemptionNotAllowed, Plugin: plugin, Message: "the pod's preemptionPolicy is Never",
		}
	}
	return &diagnosticsv1alpha1.Preemption{
		Verdict: diagnosticsv1alpha1.PreemptionWaits, Plugin: plugin, NodeName: pod.Status.NominatedNodeName,
		Message: fmt.Sprintf("pods on node %s are terminating for this pod (%s)", pod.Status.NominatedNodeName, why),
	}
}

// dryRun tries evictions on copies of nodes.
func (s *simulation) dryRun(ctx context.Context, p *preemptor, e *evaluation, nodes []fwk.NodeInfo) (*trialRun, error) {
	run := &trialRun{simulation: s, plugin: p.PluginName, answer: &diagnosticsv1alpha1.Preemption{Plugin: p.PluginName, NodesTried: int32(len(nodes))}}
	if len(nodes) == 0 {
		return run, nil
	}
	var budgets []*policyv1.PodDisruptionBudget
	if p.PdbLister != nil {
		var err error
		if budgets, err = p.PdbLister.List(labels.Everything()); err != nil {
			return nil, fmt.Errorf("list disruption budgets: %w", err)
		}
	}
	candidates, statuses, _ := p.DryRunPreemption(ctx, e.state, e.pod, nodes, budgets, 0, int32(len(nodes)))
	if ctx.Err() != nil {
		return nil, fmt.Errorf("try preemption on %d nodes: %w", len(nodes), context.Cause(ctx))
	}
	// Any other error is one of single nodes, and stands in their statuses.
	run.helped(ctx, p, candidates)
	run.refused(statuses)
	return run, nil
}
