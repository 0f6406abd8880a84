package reservation

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	decision "koordinator.sh/koord/decision/scheduling/reservation"
	"koordinator.sh/koord/scheduler/frameworkext"
	"koordinator.sh/koord/scheduler/recovery"
	"koordinator.sh/koord/scheduler/state/reservations"
)

// Name of the plugin.
const Name = decision.PluginName

// State is what the plugin reads and, in Reserve, writes.
type State interface {
	// Empty is true when no reservation holds room.
	Empty() bool
	// Get returns a Reservation by name.
	Get(name string) (*schedulingv1alpha1.Reservation, bool)
	// Owned returns the active reservations of which a pod is an owner.
	Owned(pod *corev1.Pod) []*reservations.View
	// All returns the active reservations.
	All() []*reservations.View
	// OnNode returns the active reservations of a node.
	OnNode(node string) []*reservations.View
	// ByUID returns an active reservation.
	ByUID(uid types.UID) (*reservations.View, bool)
	// UsedBy returns the active reservation that a pod uses.
	UsedBy(pod types.UID) (*reservations.View, bool)
	// Assume makes a pod a user of a reservation.
	Assume(pod *corev1.Pod, reservation types.UID, annotations map[string]string) error
	// Expect makes running pods users of a reservation that is about to be placed.
	Expect(reservation types.UID, node string, pods []*corev1.Pod)
	// Forget takes back Assume or Expect.
	Forget(pod types.UID)
}

// Plugin implements Reservation for one profile. It is safe for concurrent use.
type Plugin struct {
	handle fwk.Handle
	state  State
	writer reservations.Writer
	now    func() time.Time
	args   *decision.Args
	ignore *decision.Ignore
	// preemption serves reserve pods; nil unless it is enabled.
	preemption *defaultpreemption.DefaultPreemption
	preemptor  *reservePodLister
	// victims is held while the victims of a reserve pod are recorded, which are preempted at the same time.
	victims sync.Mutex
}

var (
	_ fwk.PreFilterPlugin   = &Plugin{}
	_ fwk.FilterPlugin      = &Plugin{}
	_ fwk.PostFilterPlugin  = &Plugin{}
	_ fwk.PreScorePlugin    = &Plugin{}
	_ fwk.ScorePlugin       = &Plugin{}
	_ fwk.ReservePlugin     = &Plugin{}
	_ fwk.PreBindPlugin     = &Plugin{}
	_ fwk.BindPlugin        = &Plugin{}
	_ fwk.EnqueueExtensions = &Plugin{}
	_ fwk.SignPlugin        = &Plugin{}
	_ frameworkext.Proposer = &Plugin{}
)

// Factory returns the constructor that a scheduler registers. All profiles share the state. Arguments that cannot be decoded or
// are out of range are errors, and the scheduler does not start. The writer may be nil where nothing is bound, as for
// explanations.
func Factory(shared State, writer reservations.Writer, now func() time.Time) frameworkruntime.PluginFactory {
	return func(ctx context.Context, object runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
		args, err := decision.DecodeArgs(object)
		if err != nil {
			return nil, err
		}
		plugin := &Plugin{handle: handle, state: shared, writer: writer, now: now, args: args, ignore: decision.IgnoreOf(args)}
		if *args.EnablePreemption {
			if err := plugin.enablePreemption(ctx); err != nil {
				return nil, fmt.Errorf("set up preemption by reservations: %w", err)
			}
		}
		return plugin, nil
	}
}

// Name implements Plugin of the scheduling framework.
func (p *Plugin) Name() string { return Name }

// SignPod lets pods be batched that have nothing to do with reservations. For others each one placed changes what the next
// one finds.
func (p *Plugin) SignPod(_ context.Context, pod *corev1.Pod) (fragments []fwk.SignFragment, status *fwk.Status) {
	defer recovery.Status(Name, recovery.Sign, pod, &status)
	if decision.Concerns(pod) || decision.IsReservePod(pod) || len(p.state.Owned(pod)) > 0 {
		return nil, fwk.NewStatus(fwk.Unschedulable, "the pod may use reservations")
	}
	return nil, nil
}
