package migration

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/arbitration"
	"koordinator.sh/koord/decision/descheduling/evictability"
)

// Replicas of the workload of a pair: the two pods of the jobs, and two that stay.
const (
	pairReplicas = 4
	pairWorkload = types.UID("workload")
)

// pair is one state of the exploration of two jobs for pods of one workload, which the arbitrator lets start.
type pair struct {
	Jobs [2]cluster
	// Waiting pods of the workload have no node, Elsewhere are those that got one without a Reservation.
	Waiting, Elsewhere int
	Violated           string
}

func (p pair) clone() pair {
	p.Jobs[0], p.Jobs[1] = p.Jobs[0].clone(), p.Jobs[1].clone()
	return p
}

func (p pair) key(t *testing.T) string {
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// workload is what the arbitrator sees of the pods.
func (p *pair) workload() arbitration.Workload {
	out := arbitration.Workload{Kind: "Deployment", Name: "web", Replicas: pairReplicas, Known: true}
	for range pairReplicas - len(p.Jobs) + p.Elsewhere {
		out.Pods = append(out.Pods, arbitration.WorkloadPod{Ready: true})
	}
	for i := range p.Jobs {
		if pod := p.Jobs[i].Pod; pod != nil {
			out.Pods = append(out.Pods, arbitration.WorkloadPod{UID: types.UID(fmt.Sprint("pod", i)), Ready: !pod.Terminating, Leaving: pod.Terminating})
		}
		if replacement := p.Jobs[i].Replacement; replacement != nil {
			out.Pods = append(out.Pods, arbitration.WorkloadPod{UID: types.UID(fmt.Sprint("new", i)), Ready: replacement.Ready})
		}
	}
	for range p.Waiting {
		out.Pods = append(out.Pods, arbitration.WorkloadPod{Pending: true})
	}
	return out
}

// arbitrate lets jobs start, as the arbitrator does.
func (p *pair) arbitrate() bool {
	two := new(intstr.FromInt32(2))
	in := arbitration.Input{
		Now: p.Jobs[0].now(), Limits: arbitration.Limits{MaxMigratingPerWorkload: two, MaxUnavailablePerWorkload: two},
		Workloads: map[types.UID]arbitration.Workload{pairWorkload: p.workload()},
	}
	for i := range p.Jobs {
		c := &p.Jobs[i]
		job := arbitration.Read(c.Job, "")
		job.UID, job.Name, job.Pod, job.PodUID = types.UID(fmt.Sprint(i)), fmt.Sprint("job", i), fmt.Sprint("pod", i), types.UID(fmt.Sprint("pod", i))
		if job.State == arbitration.Pending {
			job.Node, job.Workload, job.Missing, job.Evictability = home, pairWorkload, c.Pod == nil, evictability.Verdict{Allowed: true}
		}
		if job.State == arbitration.Finished && c.Reservation != nil && !c.Reservation.bound() {
			job.Home = arbitration.ReservedHome
		}
		in.Jobs = append(in.Jobs, job)
	}
	admitted := false
	for _, outcome := range arbitration.Decide(in, nil).Outcomes {
		if outcome.Decision == arbitration.Admitted {
			i := int(outcome.UID[0] - '0')
			arbitration.Admit(p.Jobs[i].Job, arbitration.Admission{Node: home, Workload: pairWorkload, Title: "Deployment/web"})
			admitted = true
		}
	}
	return admitted
}

// use places a waiting pod on the Reservation of a job.
func (p *pair) use(i int) bool {
	c := &p.Jobs[i]
	if p.Waiting == 0 || c.Reservation == nil || c.Reservation.Phase != schedulingv1alpha1.ReservationAvailable {
		return false
	}
	if Condition(&c.Job.Status, schedulingv1alpha1.PodMigrationJobConditionEviction) == nil {
		p.Violated = fmt.Sprintf("a pod uses the reservation of job %d, which has not evicted its own", i)
	}
	p.Waiting--
	c.Reservation.Phase, c.Reservation.Users = schedulingv1alpha1.ReservationSucceeded, []corev1.ObjectReference{{Namespace: "default", Name: "new", UID: "new"}}
	c.Replacement = &Replacement{UID: "new"}
	return true
}

// pairEvents are what the arbitrator, the controllers and the scheduler may do next. Nobody disturbs them.
func pairEvents() map[string]func(*pair) bool {
	out := map[string]func(*pair) bool{
		"the arbitrator decides": (*pair).arbitrate,
		"time passes": func(p *pair) bool {
			p.Jobs[0].Ticks++
			p.Jobs[1].Ticks++
			return p.Jobs[0].Ticks <= ttlTicks+1
		},
		"a missing pod is created": func(p *pair) bool {
			active := 0
			for _, pod := range p.workload().Pods {
				if !pod.Leaving {
					active++
				}
			}
			p.Waiting++
			return active < pairReplicas
		},
		"a pod finds a node without a reservation": func(p *pair) bool {
			for i := range p.Jobs {
				if reservation := p.Jobs[i].Reservation; reservation != nil && reservation.Phase == schedulingv1alpha1.ReservationAvailable {
					return false
				}
			}
			p.Waiting, p.Elsewhere = p.Waiting-1, p.Elsewhere+1
			return p.Waiting >= 0
		},
	}
	for _, event := range events() {
		if name := event.name; name == "the reservation is scheduled" || name == "the replacement is ready" || name == "the pod terminates" {
			for i := range 2 {
				out[fmt.Sprintf("job %d: %s", i, name)] = func(p *pair) bool { return event.do(&p.Jobs[i]) }
			}
		}
	}
	for i := range 2 {
		out[fmt.Sprintf("job %d: a pod uses its reservation", i)] = func(p *pair) bool { return p.use(i) }
	}
	return out
}

// TestTwoJobsOfOneWorkloadNeverUseEachOthersReservations visits every state of two jobs that are created at a time.
func TestTwoJobsOfOneWorkloadNeverUseEachOthersReservations(t *testing.T) {
	if testing.Short() {
		t.Skip("visits twenty thousand states")
	}
	type visit struct {
		parent *visit
		by     string
		pair
	}
	args, all := DefaultArgs(), pairEvents()
	from := pair{Jobs: [2]cluster{start(schedulingv1alpha1.PodMigrationJobModeReservationFirst), start(schedulingv1alpha1.PodMigrationJobModeReservationFirst)}}
	seen, queue, both := map[string]bool{from.key(t): true}, []*visit{{by: "start", pair: from}}, 0
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if len(seen) > maxStates {
			t.Fatalf("more than %d states", maxStates)
		}
		if broken := at.promises(); broken != "" {
			var path []string
			for v := at; v != nil; v = v.parent {
				path = append([]string{v.by}, path...)
			}
			t.Fatalf("%s:\n  %s", broken, strings.Join(path, "\n  "))
		}
		if at.succeeded(0) && at.succeeded(1) {
			both++
		}
		reach := func(by string, next pair) {
			if key := next.key(t); !seen[key] {
				seen[key] = true
				queue = append(queue, &visit{parent: at, by: by, pair: next})
			}
		}
		for i := range 2 {
			for how, until := range map[string]interruption{"": whole, ", killed after the status": afterStatus, ", the answer is lost": lostAnswer} {
				next := at.clone()
				next.Jobs[i] = at.Jobs[i].step(args, until)
				reach(fmt.Sprintf("job %d: step%s", i, how), next)
			}
		}
		for name, do := range all {
			if next := at.clone(); do(&next) {
				reach(name, next)
			}
		}
	}
	t.Logf("%d states", len(seen))
	if both == 0 {
		t.Error("both jobs never succeed")
	}
}

func (p *pair) succeeded(i int) bool {
	return p.Jobs[i].Job.Status.Phase == schedulingv1alpha1.PodMigrationJobSucceeded
}

// promises are those of two jobs that nobody disturbs: no pod uses the Reservation of the other job, and none gives up.
func (p *pair) promises() string {
	if p.Violated != "" {
		return p.Violated
	}
	for i := range p.Jobs {
		c := &p.Jobs[i]
		status := &c.Job.Status
		switch {
		case c.Violated != "":
			return c.Violated
		case status.Phase == schedulingv1alpha1.PodMigrationJobAborted:
			return fmt.Sprintf("job %d gives up: %s", i, status.Message)
		case status.Phase == schedulingv1alpha1.PodMigrationJobFailed && status.Reason != schedulingv1alpha1.PodMigrationJobReasonTimeout:
			return fmt.Sprintf("job %d fails: %s %s", i, status.Reason, status.Message)
		}
	}
	return ""
}
