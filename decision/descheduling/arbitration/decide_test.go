package arbitration

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
	"koordinator.sh/koord/decision/descheduling/evictability"
)

var noon = time.Date(2026, time.May, 4, 12, 0, 0, 0, time.UTC)

// jobOf is a pending job for the pod of the same name on a node, in namespace shop, changed as the options say.
func jobOf(name, node string, options ...func(job *Job)) Job {
	job := Job{
		UID: types.UID("uid-" + name), Name: name, State: Pending, Created: noon.Add(-time.Minute), Namespace: "shop", Pod: name, PodUID: types.UID("pod-" + name),
		Node: node, Evictability: evictability.Verdict{Allowed: true},
	}
	for _, option := range options {
		option(&job)
	}
	return job
}

func of(workload types.UID) func(*Job) { return func(job *Job) { job.Workload = workload } }

func in(namespace string) func(*Job) { return func(job *Job) { job.Namespace = namespace } }

func running(job *Job) { job.State = Running }

func ranked(rank int) func(*Job) { return func(job *Job) { job.Rank = rank } }

// evicted is a job that moved its pod a while ago.
func evicted(ago time.Duration) func(*Job) {
	return func(job *Job) { job.State, job.EvictedAt = Finished, noon.Add(-ago) }
}

func needs(home Home) func(*Job) { return func(job *Job) { job.Home = home } }

func replacedFirst(job *Job) { job.ReplacedFirst = true }

func annotated(job *Job) { job.Evictability.Annotated = true }

// deployment has ready pods named like its jobs may name them, "<name>-0" and so on, and some that are not ready.
func deployment(name string, replicas, unready int) Workload {
	workload := Workload{Kind: "Deployment", Name: name, Replicas: replicas, Known: true}
	for i := range replicas {
		workload.Pods = append(workload.Pods, WorkloadPod{UID: types.UID(fmt.Sprintf("pod-%s-%d", name, i)), Ready: i >= unready})
	}
	return workload
}

// scalingUp is a Deployment of which one pod has no node yet, and one is not created.
func scalingUp(name string, replicas int) Workload {
	workload := deployment(name, replicas, 0)
	workload.Pods = workload.Pods[1:]
	workload.Pods[replicas-2].Pending = true
	return workload
}

// together is a workload whose pods are moved one after the other.
func together(name string, replicas int) Workload {
	workload := deployment(name, replicas, 0)
	workload.Together = true
	return workload
}

// lines of a verdict: each job with its decision, gate and operands.
func lines(verdict Verdict) []string {
	var out []string
	for _, outcome := range verdict.Outcomes {
		line := outcome.Job + " " + string(outcome.Decision)
		if outcome.Gate != "" {
			line += fmt.Sprintf(" %s %d/%d", outcome.Gate, outcome.Used, outcome.Max)
		}
		out = append(out, line)
	}
	return out
}

func TestDecide(t *testing.T) {
	wide := Limits{MaxMigratingPerWorkload: new(intstr.FromInt32(5)), MaxUnavailablePerWorkload: new(intstr.FromInt32(5))}
	for name, test := range map[string]struct {
		limits    Limits
		jobs      []Job
		workloads map[types.UID]Workload
		pods      map[string]int
		want      []string
	}{
		"no limits": {jobs: []Job{jobOf("a", "n1"), jobOf("b", "n1")}, want: []string{"a Admitted", "b Admitted"}},
		"a limit of 0 is none": {
			limits: Limits{MaxMigratingPerNode: new(int32(0)), MaxMigratingGlobally: new(int32(-1))}, jobs: []Job{jobOf("a", "n1")}, want: []string{"a Admitted"},
		},
		"admitted jobs count against those after them": {
			limits: Limits{MaxMigratingPerNode: new(int32(2))}, jobs: []Job{jobOf("a", "n1"), jobOf("b", "n1"), jobOf("c", "n1"), jobOf("d", "n2")},
			want: []string{"a Admitted", "b Admitted", "c Waiting MaxMigratingPerNode 2/2", "d Admitted"},
		},
		// koordinator#1150: pending jobs held slots and waited for each other.
		"pending jobs hold no slot": {
			limits: Limits{MaxMigratingPerNode: new(int32(1))},
			jobs:   []Job{jobOf("a", "n1"), jobOf("b", "n1"), jobOf("c", "n1", func(job *Job) { job.Paused = true })},
			want:   []string{"a Admitted", "b Waiting MaxMigratingPerNode 1/1", "c Waiting Paused 0/0"},
		},
		// koordinator#2086, koordinator#2143: totals were not held.
		"globally, whatever the namespaces and nodes": {
			limits: Limits{MaxMigratingGlobally: new(int32(2))}, jobs: []Job{jobOf("a", "n1", running), jobOf("b", "n2", in("x")), jobOf("c", "n3", in("y"))},
			want: []string{"b Admitted", "c Waiting MaxMigratingGlobally 2/2"},
		},
		"per namespace": {
			limits: Limits{MaxMigratingPerNamespace: new(int32(1))}, jobs: []Job{jobOf("a", "n1", in("x"), running), jobOf("b", "n2", in("x")), jobOf("c", "n3", in("y"))},
			want: []string{"b Waiting MaxMigratingPerNamespace 1/1", "c Admitted"},
		},
		"finished jobs hold no slot": {
			limits: Limits{MaxMigratingGlobally: new(int32(1))}, jobs: []Job{jobOf("a", "n1", evicted(time.Hour)), jobOf("b", "n2")}, want: []string{"b Admitted"},
		},
		"by default one of three replicas": {
			jobs:      []Job{jobOf("web-0", "n1", of("w")), jobOf("web-1", "n2", of("w"))},
			workloads: map[types.UID]Workload{"w": deployment("web", 3, 0)},
			want:      []string{"web-0 Admitted", "web-1 Waiting MaxMigratingPerWorkload 1/1"},
		},
		"a pod that is not ready uses up what may be unavailable": {
			limits: Limits{MaxMigratingPerWorkload: new(intstr.FromInt32(3)), MaxUnavailablePerWorkload: new(intstr.FromInt32(2))},
			jobs:   []Job{jobOf("web-1", "n1", of("w")), jobOf("web-2", "n2", of("w"))}, workloads: map[types.UID]Workload{"w": deployment("web", 5, 1)},
			want: []string{"web-1 Admitted", "web-2 Waiting MaxUnavailablePerWorkload 2/2"},
		},
		"one Reservation of a workload at a time waits for its pod": {
			limits: wide, jobs: []Job{jobOf("web-0", "n1", of("w"), needs(ReservedHome)), jobOf("web-1", "n2", of("w"), needs(ReservedHome))},
			workloads: map[types.UID]Workload{"w": deployment("web", 8, 0)},
			want:      []string{"web-0 Admitted", "web-1 Waiting PendingReplacement 0/0"},
		},
		"one that is used holds up none": {
			limits: wide, jobs: []Job{jobOf("web-0", "n1", of("w"), running), jobOf("web-1", "n2", of("w"), needs(ReservedHome))},
			workloads: map[types.UID]Workload{"w": deployment("web", 8, 0)}, want: []string{"web-1 Admitted"},
		},
		"one that an ended job left holds up others until it is deleted": {
			limits: wide, jobs: []Job{jobOf("web-0", "n1", of("w"), evicted(time.Minute), needs(ReservedHome)), jobOf("web-1", "n2", of("w"), needs(ReservedHome))},
			workloads: map[types.UID]Workload{"w": deployment("web", 8, 0)}, want: []string{"web-1 Waiting PendingReplacement 0/0"},
		},
		"evictions without one wait for each other by limits only": {
			limits: wide, jobs: []Job{jobOf("web-0", "n1", of("w"), needs(AnyHome)), jobOf("web-1", "n2", of("w"), needs(AnyHome)), jobOf("web-2", "n2", of("w"), needs(ReservedHome))},
			workloads: map[types.UID]Workload{"w": deployment("web", 8, 0)},
			want:      []string{"web-0 Admitted", "web-1 Admitted", "web-2 Waiting PendingReplacement 0/0"},
		},
		"the annotation that lifts limits does not let pods use each other's Reservations": {
			jobs:      []Job{jobOf("web-0", "n1", of("w"), running, needs(ReservedHome)), jobOf("web-1", "n2", of("w"), annotated, needs(AnyHome))},
			workloads: map[types.UID]Workload{"w": deployment("web", 8, 0)}, want: []string{"web-1 Waiting PendingReplacement 0/0"},
		},
		"a running job of an unknown workload may be of any in its namespace": {
			limits: wide, jobs: []Job{
				jobOf("x", "n1", running, needs(ReservedHome), func(job *Job) { job.Unattributed = true }),
				jobOf("web-1", "n2", of("w"), needs(ReservedHome)), jobOf("lab-1", "n2", in("lab"), of("l"), needs(ReservedHome)),
			},
			workloads: map[types.UID]Workload{"w": deployment("web", 8, 0), "l": deployment("lab", 8, 0)},
			want:      []string{"lab-1 Admitted", "web-1 Waiting PendingReplacement 0/0"},
		},
		"pods that wait for a node could use the Reservation": {
			limits: wide, jobs: []Job{jobOf("web-0", "n1", of("w"), needs(ReservedHome)), jobOf("web-1", "n1", of("w"), needs(AnyHome))},
			workloads: map[types.UID]Workload{"w": scalingUp("web", 8)},
			want:      []string{"web-0 Waiting PendingReplacement 2/0", "web-1 Admitted"},
		},
		"moving the pod that is not ready makes nothing worse": {
			jobs: []Job{jobOf("web-0", "n1", of("w"))}, workloads: map[types.UID]Workload{"w": deployment("web", 3, 1)}, want: []string{"web-0 Admitted"},
		},
		"replicas that are missing are unavailable": {
			jobs: []Job{jobOf("web-2", "n1", of("w"))},
			workloads: map[types.UID]Workload{"w": func() Workload {
				workload := deployment("web", 3, 0)
				workload.Pods = workload.Pods[1:]
				return workload
			}()},
			want: []string{"web-2 Waiting MaxUnavailablePerWorkload 1/1"},
		},
		"a pod that a finished job evicted is unavailable, though it is still listed": {
			jobs:      []Job{jobOf("web-0", "n1", of("w"), evicted(time.Second)), jobOf("web-1", "n1", of("w"))},
			workloads: map[types.UID]Workload{"w": deployment("web", 3, 0)}, want: []string{"web-1 Waiting MaxUnavailablePerWorkload 1/1"},
		},
		"a surge does not hide that pods are not ready": {
			jobs: []Job{jobOf("web-3", "n1", of("w"))},
			workloads: map[types.UID]Workload{"w": func() Workload {
				workload := deployment("web", 5, 2)
				workload.Replicas = 3
				return workload
			}()},
			want: []string{"web-3 Waiting MaxUnavailablePerWorkload 2/1"},
		},
		"one replica is never moved": {
			jobs: []Job{jobOf("web-0", "n1", of("w"))}, workloads: map[types.UID]Workload{"w": deployment("web", 1, 0)}, want: []string{"web-0 Refused ExpectedReplicas 0/0"},
		},
		"nor a workload of which all may migrate": {
			limits: wide, jobs: []Job{jobOf("web-0", "n1", of("w"))}, workloads: map[types.UID]Workload{"w": deployment("web", 5, 0)},
			want: []string{"web-0 Refused ExpectedReplicas 0/0"},
		},
		"one replica that is replaced before it is evicted": {
			jobs: []Job{jobOf("web-0", "n1", of("w"), replacedFirst)}, workloads: map[types.UID]Workload{"w": deployment("web", 1, 0)}, want: []string{"web-0 Admitted"},
		},
		"as many replicas as may migrate, each replaced before it is evicted": {
			limits: wide, jobs: []Job{jobOf("web-0", "n1", of("w"), replacedFirst)}, workloads: map[types.UID]Workload{"w": deployment("web", 5, 0)},
			want: []string{"web-0 Admitted"},
		},
		"no replica, whatever becomes of its pods": {
			jobs: []Job{jobOf("web-0", "n1", of("w"), replacedFirst)}, workloads: map[types.UID]Workload{"w": deployment("web", 0, 0)},
			want: []string{"web-0 Waiting MaxMigratingPerWorkload 0/0"},
		},
		"a pod that is replaced first is not unavailable itself": {
			limits:    Limits{MaxMigratingPerWorkload: new(intstr.FromInt32(3)), MaxUnavailablePerWorkload: new(intstr.FromInt32(1))},
			jobs:      []Job{jobOf("web-1", "n1", of("w"), replacedFirst), jobOf("web-2", "n2", of("w"))},
			workloads: map[types.UID]Workload{"w": deployment("web", 5, 1)},
			want:      []string{"web-1 Admitted", "web-2 Waiting MaxUnavailablePerWorkload 1/1"},
		},
		"while it is, another one may be": {
			limits:    Limits{MaxMigratingPerWorkload: new(intstr.FromInt32(3)), MaxUnavailablePerWorkload: new(intstr.FromInt32(1))},
			jobs:      []Job{jobOf("web-1", "n1", of("w"), running, replacedFirst), jobOf("web-2", "n2", of("w"))},
			workloads: map[types.UID]Workload{"w": deployment("web", 5, 0)}, want: []string{"web-2 Admitted"},
		},
		"it does not leave while more than may be are unavailable": {
			jobs: []Job{jobOf("web-2", "n1", of("w"), replacedFirst)}, workloads: map[types.UID]Workload{"w": deployment("web", 3, 2)},
			want: []string{"web-2 Waiting MaxUnavailablePerWorkload 2/1"},
		},
		"each counts as migrating": {
			jobs:      []Job{jobOf("web-0", "n1", of("w"), replacedFirst), jobOf("web-1", "n2", of("w"), replacedFirst)},
			workloads: map[types.UID]Workload{"w": deployment("web", 3, 0)}, want: []string{"web-0 Admitted", "web-1 Waiting MaxMigratingPerWorkload 1/1"},
		},
		"one replica, and the check is skipped": {
			limits: Limits{SkipCheckExpectedReplicas: true}, jobs: []Job{jobOf("web-0", "n1", of("w"))}, workloads: map[types.UID]Workload{"w": deployment("web", 1, 0)},
			want: []string{"web-0 Admitted"},
		},
		"gates that are skipped": {
			limits: Limits{MaxMigratingPerNode: new(int32(1)), SkippedGates: []Gate{ExpectedReplicas, MaxMigratingPerNode, MaxMigratingPerWorkload, MaxUnavailablePerWorkload}},
			jobs:   []Job{jobOf("web-0", "n1", of("w")), jobOf("web-1", "n1", of("w"))}, workloads: map[types.UID]Workload{"w": deployment("web", 2, 0)},
			want: []string{"web-0 Admitted", "web-1 Admitted"},
		},
		"replicas of an unknown controller are its pods": {
			jobs: []Job{jobOf("web-0", "n1", of("w")), jobOf("web-1", "n1", of("w"))},
			workloads: map[types.UID]Workload{"w": func() Workload {
				workload := deployment("web", 3, 0)
				workload.Known, workload.Replicas = false, 0
				return workload
			}()},
			want: []string{"web-0 Admitted", "web-1 Waiting MaxMigratingPerWorkload 1/1"},
		},
		"a controller that could not be read": {jobs: []Job{jobOf("web-0", "n1", of("w"))}, want: []string{"web-0 Waiting UnknownWorkload 0/0"}},
		"an annotated pod exceeds limits, and counts": {
			limits: Limits{MaxMigratingPerNode: new(int32(1))}, jobs: []Job{jobOf("a", "n1", running), jobOf("b", "n1", annotated), jobOf("c", "n1")},
			want: []string{"b Admitted", "c Waiting MaxMigratingPerNode 2/1"},
		},
		"a second job for a pod": {
			jobs: []Job{jobOf("a", "n1"), jobOf("a2", "n1", func(job *Job) { job.Pod, job.PodUID = "a", "pod-a" })}, want: []string{"a Admitted", "a2 Waiting ExistingJob 0/0"},
		},
		"running jobs that nobody attributed count everywhere": {
			limits: Limits{MaxMigratingPerNode: new(int32(1))},
			jobs: []Job{
				jobOf("x", "", running, func(job *Job) { job.Unattributed = true }), jobOf("a", "n1"), jobOf("web-0", "", of("w")),
				jobOf("db-0", "", of("d"), in("other")),
			},
			workloads: map[types.UID]Workload{"w": deployment("web", 3, 0), "d": deployment("db", 3, 0)},
			want:      []string{"a Waiting MaxMigratingPerNode 1/1", "db-0 Admitted", "web-0 Waiting MaxMigratingPerWorkload 1/1"},
		},
		"a missing pod, a bad reference, a gate, a held and an expired job": {
			jobs: []Job{
				jobOf("a", "n1", func(job *Job) { job.Missing = true }), jobOf("b", "n1", func(job *Job) { job.Pod = "" }),
				jobOf("c", "n1", func(job *Job) {
					job.Evictability = evictability.Verdict{Refusals: []evictability.Refusal{{Gate: evictability.PVC, Message: "it uses a claim"}}}
				}),
				jobOf("d", "n1", func(job *Job) { job.Held = "batch 1 has not ended" }), jobOf("e", "n1", func(job *Job) { job.Expires = noon }),
			},
			want: []string{"a Refused MissingPod 0/0", "b Refused InvalidPodRef 0/0", "c Refused PVC 0/0", "d Waiting Held 0/0", "e Waiting Expired 0/0"},
		},
		"pods of a batch Job are moved before the next Job's": {
			limits: Limits{SkipCheckExpectedReplicas: true},
			jobs:   []Job{jobOf("a", "n1", of("j1"), ranked(1)), jobOf("b", "n2", ranked(2)), jobOf("c", "n3", of("j1"), ranked(3)), jobOf("d", "n4", of("j2"), ranked(5)), jobOf("e", "n4", of("j2"), running), jobOf("f", "n4", of("j2"), running)},
			workloads: map[types.UID]Workload{
				"j1": together("one", 20), "j2": together("two", 20),
			},
			want: []string{"d Waiting MaxMigratingPerWorkload 2/2", "a Admitted", "c Admitted", "b Admitted"},
		},
		"the youngest job of pods that are alike": {
			limits: Limits{MaxMigratingGlobally: new(int32(1))}, jobs: []Job{jobOf("a", "n1"), jobOf("b", "n2", func(job *Job) { job.Created = noon })},
			want: []string{"b Admitted", "a Waiting MaxMigratingGlobally 1/1"},
		},
		"the order of pods": {
			limits: Limits{MaxMigratingGlobally: new(int32(1))}, jobs: []Job{jobOf("a", "n1", ranked(7)), jobOf("b", "n2", ranked(-7))},
			want: []string{"b Admitted", "a Waiting MaxMigratingGlobally 1/1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			verdict := Decide(Input{Now: noon, Limits: test.limits, Jobs: test.jobs, Workloads: test.workloads, NamespacePods: test.pods}, nil)
			if diff := cmp.Diff(test.want, lines(verdict)); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
			for _, outcome := range verdict.Outcomes {
				if outcome.Decision != Admitted && outcome.Message == "" || outcome.Decision == Refused && outcome.Reason == "" {
					t.Errorf("outcome %+v says nothing", outcome)
				}
			}
		})
	}
}

func TestObjectLimiters(t *testing.T) {
	limiter := func(most, burst int) *ObjectLimiter {
		return &ObjectLimiter{Duration: 5 * time.Minute, MaxMigrating: new(intstr.FromInt32(int32(most))), Burst: burst}
	}
	wide := Limits{MaxMigratingPerWorkload: new(intstr.FromInt32(9)), MaxUnavailablePerWorkload: new(intstr.FromInt32(9))}
	workload := func(most, burst int) Limits {
		limits := wide
		limits.ObjectLimiters.Workload = limiter(most, burst)
		return limits
	}
	namespace := func(value intstr.IntOrString, burst int) Limits {
		limits := wide
		limits.ObjectLimiters.Namespace = &ObjectLimiter{Duration: 5 * time.Minute, MaxMigrating: &value, Burst: burst}
		return limits
	}
	// The pods of earlier jobs are gone long since.
	past := func(name string, ago time.Duration, options ...func(*Job)) Job {
		return jobOf(name, "n1", append([]func(*Job){of("w"), evicted(ago)}, options...)...)
	}
	next := jobOf("web-9", "n1", of("w"))
	for name, test := range map[string]struct {
		limits    Limits
		jobs      []Job
		pods      map[string]int
		want      []string
		wantRetry time.Duration
	}{
		// koordinator#2074, koordinator#2088: the limiter had no effect; koordinator#2200: each profile had its own.
		"an eviction within the duration, by whomever": {
			limits: workload(1, 1), jobs: []Job{past("old", 2*time.Minute), next}, want: []string{"web-9 Waiting ObjectLimiterWorkload 1/1"}, wantRetry: 3 * time.Minute,
		},
		"an eviction exactly the duration ago": {limits: workload(1, 1), jobs: []Job{past("old", 5*time.Minute), next}, want: []string{"web-9 Admitted"}},
		"an eviction in the future counts as of now": {
			limits: workload(1, 1), jobs: []Job{past("old", -time.Hour), next}, want: []string{"web-9 Waiting ObjectLimiterWorkload 1/1"}, wantRetry: 5 * time.Minute,
		},
		"a running job will evict": {
			limits: workload(1, 1), jobs: []Job{jobOf("r", "n1", of("w"), running), next}, want: []string{"web-9 Waiting ObjectLimiterWorkload 1/1"}, wantRetry: 5 * time.Minute,
		},
		"without a burst evictions are spread over the duration": {
			limits: workload(5, 0), jobs: []Job{past("old", 20*time.Second), next}, want: []string{"web-9 Waiting ObjectLimiterWorkload 1/5"}, wantRetry: 40 * time.Second,
		},
		"with a burst they come at once": {limits: workload(5, 5), jobs: []Job{past("old", 20*time.Second), next}, want: []string{"web-9 Admitted"}},
		"until they are used up": {
			limits: workload(2, 2), jobs: []Job{past("a", 4*time.Minute), past("b", time.Minute), next}, want: []string{"web-9 Waiting ObjectLimiterWorkload 2/2"}, wantRetry: time.Minute,
		},
		"a duration of 0 is no limit": {
			limits: func() Limits {
				limits := workload(1, 1)
				limits.ObjectLimiters.Workload.Duration = 0
				return limits
			}(),
			jobs: []Job{past("old", time.Second), next}, want: []string{"web-9 Admitted"},
		},
		// koordinator#2051: namespaces had no limiter.
		"a namespace, over all workloads": {
			limits: namespace(intstr.FromInt32(1), 1), jobs: []Job{past("old", time.Minute, of("other")), next}, want: []string{"web-9 Waiting ObjectLimiterNamespace 1/1"}, wantRetry: 4 * time.Minute,
		},
		"a percentage of the pods of a namespace": {
			limits: namespace(intstr.FromString("10%"), 2), pods: map[string]int{"shop": 25}, jobs: []Job{past("old", time.Minute, of("other")), next}, want: []string{"web-9 Admitted"},
		},
		"another namespace": {limits: namespace(intstr.FromInt32(1), 1), jobs: []Job{past("old", time.Minute, in("other")), next}, want: []string{"web-9 Admitted"}},
	} {
		t.Run(name, func(t *testing.T) {
			verdict := Decide(Input{
				Now: noon, Limits: test.limits, Jobs: test.jobs, NamespacePods: test.pods, Workloads: map[types.UID]Workload{"w": deployment("web", 20, 0)},
			}, nil)
			if diff := cmp.Diff(test.want, lines(verdict)); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
			if got := verdict.Outcomes[0].Retry; got != test.wantRetry {
				t.Errorf("retry in %s, want %s", got, test.wantRetry)
			}
		})
	}
}

func TestARefusalSaysWhyAPodIsNotReplacedFirst(t *testing.T) {
	verdict := Decide(Input{
		Now: noon, Jobs: []Job{jobOf("web-0", "n1", of("w"), func(job *Job) { job.EvictedFirst = `Deployment "web" is being rolled out` })},
		Workloads: map[types.UID]Workload{"w": deployment("web", 1, 0)},
	}, nil)
	const want = `nothing of Deployment web would be left running: it has only one replica, and the pod is evicted before it is replaced: Deployment "web" is being rolled out`
	if got := verdict.Outcomes[0].Message; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
}

func TestReasonsAreUpstreams(t *testing.T) {
	verdict := Decide(Input{Now: noon, Jobs: []Job{
		jobOf("a", "n1", func(job *Job) { job.Missing = true }), jobOf("b", "n1", func(job *Job) { job.Evictability = evictability.Verdict{} }),
	}}, nil)
	want := []string{schedulingv1alpha1.PodMigrationJobReasonMissingPod, schedulingv1alpha1.PodMigrationJobReasonForbiddenMigratePod}
	if got := []string{verdict.Outcomes[0].Reason, verdict.Outcomes[1].Reason}; !cmp.Equal(want, got) {
		t.Errorf("reasons %v, want %v", got, want)
	}
}

func TestTheTraceNamesEveryGateThatWasAsked(t *testing.T) {
	var trace Trace
	verdict := Decide(Input{
		Now: noon, Limits: Limits{MaxMigratingGlobally: new(int32(5)), MaxMigratingPerNode: new(int32(1))}, Jobs: []Job{jobOf("a", "n1", running), jobOf("b", "n1")},
	}, &trace)
	want := []Check{
		{Job: "b", Gate: MaxMigratingGlobally, Used: 1, Max: 5, Passed: true},
		{Job: "b", Gate: MaxMigratingPerNode, Used: 1, Max: 1, Message: "1 pods of node n1 are migrating, at most 1 may"},
	}
	if diff := cmp.Diff(want, trace.Of("b")); diff != "" {
		t.Errorf("checks (-want +got):\n%s", diff)
	}
	if line := verdict.Outcomes[0].Line(); !strings.Contains(line, "PodMigrationJob b waits: 1 pods of node n1") {
		t.Errorf("line %q", line)
	}
}

func TestPassLimits(t *testing.T) {
	limits := PassLimits{MaxEvictionsPerNode: new(uint(1)), MaxEvictionsPerNamespace: new(uint(2)), MaxEvictionsTotal: new(uint(3))}
	var counts PassCounts
	var got []string
	for _, pod := range [][2]string{{"n1", "a"}, {"n1", "b"}, {"n2", "a"}, {"n3", "a"}, {"n3", "b"}, {"n4", "c"}} {
		outcome := limits.Ask(&counts, pod[0], pod[1])
		if outcome.Decision == Admitted {
			counts.Add(pod[0], pod[1])
		}
		got = append(got, strings.TrimSpace(string(outcome.Decision)+" "+string(outcome.Gate)))
	}
	want := []string{
		"Admitted", "Waiting maxNoOfPodsToEvictPerNode", "Admitted", "Waiting maxNoOfPodsToEvictPerNamespace", "Admitted", "Waiting maxNoOfPodsToEvictTotal",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
}
