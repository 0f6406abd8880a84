package explain

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"

	"koordinator.sh/koord/scheduler/reason"
)

// preemptor is a PostFilter plugin that evicts pods. Its evaluator only does dry runs, because it has no executor of evictions.
type preemptor struct {
	*preemption.Evaluator
	// rules of the plugin's own, nil when it has none.
	rules reason.Preemptor
}

// reservePreemptor is the plugin that evicts pods for reserve pods, and knows which pods reservations spare.
type reservePreemptor interface {
	reason.Preemptor
	// Preemption is nil unless it is enabled.
	Preemption() *defaultpreemption.DefaultPreemption
	Guard(standard *defaultpreemption.DefaultPreemption, evict func(ctx context.Context, reservePod *corev1.Pod, preemptor string) error)
}

// adoptPreemptors lists the plugins that evict pods, in the order in which the framework asks them.
func (s *simulation) adoptPreemptors(created map[string]fwk.Plugin) {
	s.whole = pluginsOf[reason.WholePreemptor](s.framework.ListPlugins().PostFilter, created)
	reserving := pluginOf[reservePreemptor](created)
	for _, plugin := range pluginsOf[fwk.PostFilterPlugin](s.framework.ListPlugins().PostFilter, created) {
		if own, is := plugin.(reservePreemptor); is {
			s.adoptReserving(own)
			continue
		}
		chooser, ok := plugin.(preemption.Interface)
		if !ok {
			continue
		}
		if standard, ok := plugin.(*defaultpreemption.DefaultPreemption); ok && reserving != nil {
			reserving.Guard(standard, evictNobody)
		}
		rules, _ := plugin.(reason.Preemptor)
		s.preemptors = append(s.preemptors, preemptor{Evaluator: preemption.NewEvaluator(plugin.Name(), s.framework, chooser, nil), rules: rules})
	}
}

// adoptReserving adopts the preemption of reserve pods, which comes before that of all others, and ends there.
func (s *simulation) adoptReserving(plugin reservePreemptor) {
	adopted := preemptor{rules: plugin}
	if chooser := plugin.Preemption(); chooser != nil {
		adopted.Evaluator = preemption.NewEvaluator(plugin.Name(), s.framework, chooser, nil)
	}
	s.reserving = append(s.reserving, adopted)
}

// evictNobody stands where a scheduler ends a Reservation: explanations choose victims, and leave them alone.
func evictNobody(context.Context, *corev1.Pod, string) error {
	return errors.New("explanations do not evict pods")
}
