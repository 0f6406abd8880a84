package arbitrator

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/core/podstate"
	"koordinator.sh/koord/decision/descheduling/arbitration"
	"koordinator.sh/koord/decision/descheduling/evictability"
	"koordinator.sh/koord/decision/descheduling/migration"
)

// round is one decision with what it was made of.
type round struct {
	verdict arbitration.Verdict
	listed  []schedulingv1alpha1.PodMigrationJob
	// jobs are the objects, input what was read of them, and titles the kinds and names of workloads, by UID.
	jobs   map[types.UID]*schedulingv1alpha1.PodMigrationJob
	input  map[types.UID]*arbitration.Job
	titles map[types.UID]string
}

func byUID(jobs []schedulingv1alpha1.PodMigrationJob) map[types.UID]*schedulingv1alpha1.PodMigrationJob {
	out := make(map[types.UID]*schedulingv1alpha1.PodMigrationJob, len(jobs))
	for i := range jobs {
		out[jobs[i].UID] = &jobs[i]
	}
	return out
}

// decide arbitrates jobs. Those of the entries count as running, though they lack their annotation.
func (a *Arbitrator) decide(ctx context.Context, settings Settings, jobs []schedulingv1alpha1.PodMigrationJob, entries []entry) (*round, error) {
	out := &round{listed: jobs, jobs: byUID(jobs), input: map[types.UID]*arbitration.Job{}, titles: map[types.UID]string{}}
	in := arbitration.Input{Now: a.config.Now(), Limits: settings.Limits, Jobs: make([]arbitration.Job, len(jobs)), Workloads: map[types.UID]arbitration.Workload{}}
	for i := range jobs {
		in.Jobs[i] = arbitration.Read(&jobs[i], settings.DefaultMode)
		out.input[jobs[i].UID] = &in.Jobs[i]
	}
	for _, entry := range entries {
		job := out.input[entry.UID]
		job.State, job.Node, job.Workload, job.Unattributed = arbitration.Running, entry.Node, entry.Workload, false
		job.Home, job.ReplacedFirst = homeOn(entry.Node, job.Home), entry.ReplacedFirst
	}
	if err := a.gather(ctx, settings, jobs, &in, out); err != nil {
		return nil, err
	}
	out.verdict = arbitration.Decide(in, nil)
	if !out.mindsLeftReservations() {
		return out, nil
	}
	left, err := a.leftReservations(ctx)
	if err != nil {
		return nil, err
	}
	for uid := range left {
		if job := out.input[uid]; job != nil && job.State == arbitration.Finished {
			job.Home = arbitration.ReservedHome
		}
	}
	out.verdict = arbitration.Decide(in, nil)
	return out, nil
}

// mindsLeftReservations reports whether a job is admitted that needs a home, and another one of its workload ended without one for its pod:
// the Reservation of that one may be there still. One that succeeded leaves none that is not used.
func (r *round) mindsLeftReservations() bool {
	ended := sets.Set[types.UID]{}
	for uid, job := range r.input {
		if job.State == arbitration.Finished && r.jobs[uid].Status.Phase != schedulingv1alpha1.PodMigrationJobSucceeded {
			ended.Insert(job.Workload)
		}
	}
	return slices.ContainsFunc(r.verdict.Outcomes, func(outcome arbitration.Outcome) bool {
		job := r.input[outcome.UID]
		return outcome.Decision == arbitration.Admitted && job.Home != "" && job.Workload != "" && ended.Has(job.Workload)
	})
}

// gather adds what concerns the pods of jobs: of pending ones all, of running ones those whose node and workload are unknown.
func (a *Arbitrator) gather(ctx context.Context, settings Settings, jobs []schedulingv1alpha1.PodMigrationJob, in *arbitration.Input, out *round) error {
	nodes, err := a.nodes(ctx, settings, in.Jobs)
	if err != nil {
		return err
	}
	namespaces := newNamespaces(a.config.Pods, a.owners)
	var pods []*corev1.Pod
	for i := range in.Jobs {
		job := &in.Jobs[i]
		if job.Namespace == "" || job.Pod == "" || job.State == arbitration.Finished || job.State == arbitration.Running && !job.Unattributed {
			continue
		}
		pod, err := a.pod(ctx, job)
		switch {
		case err != nil:
			return err
		case pod == nil:
			job.Missing = true
			continue
		}
		workload, err := namespaces.workload(ctx, pod)
		if err != nil {
			return err
		}
		job.PodUID, job.Node, job.Workload, job.Unattributed = pod.UID, pod.Spec.NodeName, workload.owner.uid, false
		if job.State != arbitration.Pending {
			continue
		}
		job.Home = homeOn(pod.Spec.NodeName, job.Home)
		if workload.found {
			in.Workloads[workload.owner.uid], out.titles[workload.owner.uid] = workload.Workload, workload.Kind+"/"+workload.Name
		}
		if job.ReplacedFirst, job.EvictedFirst, err = a.replacedFirst(ctx, settings.Args, &jobs[i], pod, workload.owner); err != nil {
			return err
		}
		job.Evictability = evictability.Decide(evictability.Input{Pod: pod, Policy: settings.Policy, Nodes: nodes})
		pods = append(pods, pod)
	}
	in.NamespacePods = namespaces.counts()
	a.rank(in.Jobs, pods)
	a.hold(jobs, in.Jobs)
	return nil
}

// homeOn is the home that a job needs for a pod of a node. A pod without one gets a Reservation that no other pod may use.
func homeOn(node string, home arbitration.Home) arbitration.Home {
	if node == "" && home == arbitration.ReservedHome {
		return arbitration.AnyHome
	}
	return home
}

// leftReservations are the jobs of which a Reservation is there that no pod uses, read past the cache.
func (a *Arbitrator) leftReservations(ctx context.Context) (sets.Set[types.UID], error) {
	var reservations schedulingv1alpha1.ReservationList
	if err := a.config.Live.List(ctx, &reservations, client.MatchingLabels{migration.LabelCreatedBy: migration.CreatedBy}); err != nil {
		return nil, fmt.Errorf("list the Reservations of PodMigrationJobs: %w", err)
	}
	left := sets.Set[types.UID]{}
	for i := range reservations.Items {
		reservation := &reservations.Items[i]
		ended := reservation.Status.Phase == schedulingv1alpha1.ReservationFailed || reservation.Status.Phase == schedulingv1alpha1.ReservationSucceeded
		if owner := metav1.GetControllerOfNoCopy(reservation); owner != nil && !ended && len(reservation.Status.CurrentOwners) == 0 {
			left.Insert(owner.UID)
		}
	}
	return left, nil
}

// pod of a job, nil when there is none, or another one of the name.
func (a *Arbitrator) pod(ctx context.Context, job *arbitration.Job) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	err := a.config.Client.Get(ctx, types.NamespacedName{Namespace: job.Namespace, Name: job.Pod}, pod)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("get pod %s/%s: %w", job.Namespace, job.Pod, err)
	case job.PodUID != "" && job.PodUID != pod.UID:
		return nil, nil
	}
	return pod, nil
}

// rank gives jobs their place in the order of their pods. Pods that are alike have the same place.
func (a *Arbitrator) rank(jobs []arbitration.Job, pods []*corev1.Pod) {
	if a.config.Order == nil {
		return
	}
	slices.SortStableFunc(pods, a.config.Order)
	ranks, rank := map[types.UID]int{}, 0
	for i, pod := range pods {
		if i > 0 && a.config.Order(pods[i-1], pod) != 0 {
			rank++
		}
		ranks[pod.UID] = rank
	}
	for i := range jobs {
		jobs[i].Rank = ranks[jobs[i].PodUID]
	}
}

func (a *Arbitrator) hold(objects []schedulingv1alpha1.PodMigrationJob, jobs []arbitration.Job) {
	if a.config.Held == nil {
		return
	}
	held := a.config.Held(objects)
	for i := range jobs {
		jobs[i].Held = held[jobs[i].UID]
	}
}

// nodes with their pods, where a policy asks whether another node takes a pod and there is one to ask for.
func (a *Arbitrator) nodes(ctx context.Context, settings Settings, jobs []arbitration.Job) ([]evictability.Node, error) {
	pending := slices.ContainsFunc(jobs, func(job arbitration.Job) bool { return job.State == arbitration.Pending })
	if !settings.Policy.NodeFit || !pending {
		return nil, nil
	}
	var nodes corev1.NodeList
	if err := a.config.Client.List(ctx, &nodes, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	pods, err := a.config.Pods(ctx, "")
	if err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	byNode := map[string][]*corev1.Pod{}
	for _, pod := range pods {
		if pod.Spec.NodeName != "" && !podstate.Ended(pod) {
			byNode[pod.Spec.NodeName] = append(byNode[pod.Spec.NodeName], pod)
		}
	}
	out := make([]evictability.Node, len(nodes.Items))
	for i := range nodes.Items {
		out[i] = evictability.Node{Node: &nodes.Items[i], Pods: byNode[nodes.Items[i].Name]}
	}
	return out, nil
}
