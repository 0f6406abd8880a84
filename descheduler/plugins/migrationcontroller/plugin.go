package migrationcontroller

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	nodeutil "sigs.k8s.io/descheduler/pkg/descheduler/node"
	frameworktypes "sigs.k8s.io/descheduler/pkg/framework/types"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/core/podstate"
	"koordinator.sh/koord/decision/descheduling/evictability"
	"koordinator.sh/koord/decision/descheduling/migration"
)

// nodesTTL is how long the nodes are taken for what they were. To look at all of them for each pod would take a pass over many pods
// minutes, and within seconds they change by what the pass itself does.
const nodesTTL = 10 * time.Second

// Plugin implements framework.Migrator.
type Plugin struct {
	args   *migration.Args
	policy evictability.Policy
	handle frameworktypes.Handle

	mu     sync.Mutex
	nodes  []evictability.Node
	readAt time.Time
}

// New makes the plugin.
func New(ctx context.Context, args *migration.Args, handle frameworktypes.Handle) (frameworktypes.Plugin, error) {
	policy, err := Policy(ctx, handle.ClientSet(), args)
	if err != nil {
		return nil, err
	}
	return &Plugin{args: args, policy: policy, handle: handle}, nil
}

// Name of the plugin.
func (p *Plugin) Name() string { return migration.PluginName }

// Filter asks every gate but NodeFit, which PreEvictionFilter asks of the pods that are chosen.
func (p *Plugin) Filter(pod *corev1.Pod) bool { return p.Refusal(pod) == "" }

// Refusal is why Filter refuses the pod; empty when it does not.
func (p *Plugin) Refusal(pod *corev1.Pod) string {
	policy := p.policy
	policy.NodeFit = false
	if verdict := evictability.Decide(evictability.Input{Pod: pod, Policy: policy}); !verdict.Allowed {
		return verdict.Message()
	}
	if p.mode(pod) == schedulingv1alpha1.PodMigrationJobModeReservationFirst && !slices.Contains(p.args.SchedulerNames, pod.Spec.SchedulerName) {
		return fmt.Sprintf("scheduler %q of the pod does not know Reservations: it is not one of schedulerNames", pod.Spec.SchedulerName)
	}
	return ""
}

// PreEvictionFilter asks all gates, with the nodes that the pod could move to.
func (p *Plugin) PreEvictionFilter(pod *corev1.Pod) bool {
	if !p.policy.NodeFit {
		return true
	}
	nodes, err := p.candidates()
	return err == nil && evictability.Decide(evictability.Input{Pod: pod, Policy: p.policy, Nodes: nodes}).Allowed
}

// candidates are the ready nodes with their pods.
func (p *Plugin) candidates() ([]evictability.Node, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.nodes != nil && time.Since(p.readAt) < nodesTTL {
		return p.nodes, nil
	}
	nodes, err := p.handle.SharedInformerFactory().Core().V1().Nodes().Lister().List(labels.Everything())
	if err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	candidates := make([]evictability.Node, 0, len(nodes))
	for _, node := range nodes {
		if !nodeutil.IsReady(node) {
			continue
		}
		pods, err := p.handle.GetPodsAssignedToNodeFunc()(node.Name, func(pod *corev1.Pod) bool { return !podstate.Ended(pod) })
		if err != nil {
			return nil, err
		}
		candidates = append(candidates, evictability.Node{Node: node, Pods: pods})
	}
	p.nodes, p.readAt = candidates, time.Now()
	return candidates, nil
}

// JobSpec is the specification of a job for the pod.
func (p *Plugin) JobSpec(pod *corev1.Pod) schedulingv1alpha1.PodMigrationJobSpec {
	return schedulingv1alpha1.PodMigrationJobSpec{Mode: p.mode(pod), TTL: p.args.DefaultJobTTL}
}

// mode of a job for the pod. One that ended holds no resources that a successor would need elsewhere, and one without a controller has no
// successor: that it may be evicted all the same is what the policy says.
func (p *Plugin) mode(pod *corev1.Pod) schedulingv1alpha1.PodMigrationJobMode {
	if podstate.Ended(pod) || metav1.GetControllerOfNoCopy(pod) == nil {
		return schedulingv1alpha1.PodMigrationJobModeEvictionDirectly
	}
	return p.args.DefaultJobMode
}
