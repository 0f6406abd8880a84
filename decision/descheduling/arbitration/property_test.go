package arbitration

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"

	"koordinator.sh/koord/decision/descheduling/evictability"
)

// drawCount is a limit, or none.
func drawCount(t *rapid.T, label string) *int32 {
	if rapid.Bool().Draw(t, label+" is set") {
		return new(rapid.Int32Range(0, 4).Draw(t, label))
	}
	return nil
}

func drawShare(t *rapid.T, label string) *intstr.IntOrString {
	switch rapid.IntRange(0, 3).Draw(t, label+" kind") {
	case 0:
		return new(intstr.FromInt32(rapid.Int32Range(0, 6).Draw(t, label)))
	case 1:
		return new(intstr.FromString(fmt.Sprintf("%d%%", rapid.IntRange(0, 120).Draw(t, label))))
	}
	return nil
}

func drawLimiter(t *rapid.T, label string) *ObjectLimiter {
	if !rapid.Bool().Draw(t, label+" is set") {
		return nil
	}
	return &ObjectLimiter{
		Duration: time.Duration(rapid.IntRange(0, 10).Draw(t, label+" minutes")) * time.Minute, MaxMigrating: drawShare(t, label),
		Burst: rapid.IntRange(0, 3).Draw(t, label+" burst"),
	}
}

func drawLimits(t *rapid.T) Limits {
	return Limits{
		MaxMigratingGlobally: drawCount(t, "globally"), MaxMigratingPerNode: drawCount(t, "per node"), MaxMigratingPerNamespace: drawCount(t, "per namespace"),
		MaxMigratingPerWorkload: drawShare(t, "per workload"), MaxUnavailablePerWorkload: drawShare(t, "unavailable"),
		ObjectLimiters:            ObjectLimiters{Workload: drawLimiter(t, "workload limiter"), Namespace: drawLimiter(t, "namespace limiter")},
		SkipCheckExpectedReplicas: rapid.Bool().Draw(t, "skip replicas"),
		SkippedGates:              rapid.SliceOfN(rapid.SampledFrom(Skippable()), 0, 2).Draw(t, "skipped"),
	}
}

// drawInput is any moment, with jobs in all states.
func drawInput(t *rapid.T) Input {
	in := Input{Now: noon, Limits: drawLimits(t), Workloads: map[types.UID]Workload{}, NamespacePods: map[string]int{"a": 7, "b": 30}}
	for i := range rapid.IntRange(1, 4).Draw(t, "workloads") {
		workload := deployment(fmt.Sprintf("w%d", i), rapid.IntRange(0, 12).Draw(t, "replicas"), rapid.IntRange(0, 2).Draw(t, "unready"))
		workload.Known, workload.Together = rapid.Bool().Draw(t, "known"), rapid.Bool().Draw(t, "together")
		in.Workloads[types.UID(fmt.Sprintf("w%d", i))] = workload
	}
	for i := range rapid.IntRange(0, 12).Draw(t, "jobs") {
		in.Jobs = append(in.Jobs, drawJob(t, i))
	}
	return in
}

func drawJob(t *rapid.T, i int) Job {
	workload := rapid.IntRange(-1, 4).Draw(t, "workload") // 4 is one that could not be read
	job := Job{
		UID: types.UID(fmt.Sprint("uid", i)), Name: fmt.Sprint("job", i), State: rapid.SampledFrom([]State{Pending, Pending, Pending, Running, Finished}).Draw(t, "state"),
		Created: noon.Add(-time.Duration(rapid.IntRange(0, 3).Draw(t, "age")) * time.Minute), Namespace: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "namespace"),
		Pod: fmt.Sprint("p", i), PodUID: types.UID(fmt.Sprint("p", i)), Node: rapid.SampledFrom([]string{"", "n1", "n2", "n3"}).Draw(t, "node"),
		Evictability: evictability.Verdict{Allowed: rapid.IntRange(0, 9).Draw(t, "evictable") > 0}, Rank: rapid.IntRange(0, 3).Draw(t, "rank"),
		Paused: rapid.IntRange(0, 9).Draw(t, "paused") == 0, Home: rapid.SampledFrom([]Home{"", ReservedHome, AnyHome}).Draw(t, "home"),
		ReplacedFirst: rapid.IntRange(0, 3).Draw(t, "replaced first") == 0,
	}
	if workload >= 0 {
		job.Workload = types.UID(fmt.Sprint("w", workload))
		job.PodUID = types.UID(fmt.Sprintf("pod-w%d-%d", workload, i))
	}
	if job.State != Pending {
		job.Unattributed = job.State == Running && rapid.IntRange(0, 9).Draw(t, "unattributed") == 0
		if job.State == Finished || rapid.Bool().Draw(t, "evicted") {
			job.EvictedAt = noon.Add(-time.Duration(rapid.IntRange(-60, 900).Draw(t, "evicted ago")) * time.Second)
		}
	}
	return job
}

func TestTheOrderOfTheInputDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		want := Decide(in, nil)
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		random.Shuffle(len(in.Jobs), func(i, j int) { in.Jobs[i], in.Jobs[j] = in.Jobs[j], in.Jobs[i] })
		var trace Trace
		if diff := cmp.Diff(want, Decide(in, &trace)); diff != "" {
			t.Fatalf("verdict of the same jobs in another order, with a trace (-want +got):\n%s", diff)
		}
	})
}

// TestALimitMoreStopsJobs: the first job that fares otherwise with a limit more, or a stricter one, is one that the limit stopped. Jobs
// after it may find slots that it left free.
func TestALimitMoreStopsJobs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawInput(t)
		before := Decide(in, nil)
		stricter := in
		tighten(t, &stricter.Limits)
		after := Decide(stricter, nil)
		for i := range before.Outcomes {
			was, is := before.Outcomes[i], after.Outcomes[i]
			if was.UID != is.UID {
				t.Fatalf("place %d was %s and is %s", i, was.Job, is.Job)
			}
			if (was.Decision == Admitted) != (is.Decision == Admitted) {
				if is.Decision == Admitted {
					t.Fatalf("%s was %s and is admitted with a limit more", was.Job, was.Gate)
				}
				return
			}
		}
	})
}

func tighten(t *rapid.T, limits *Limits) {
	lower := func(of **int32) {
		if set(*of) {
			*of = new(rapid.Int32Range(1, **of).Draw(t, "stricter"))
		} else {
			*of = new(rapid.Int32Range(1, 3).Draw(t, "added"))
		}
	}
	switch rapid.IntRange(0, 4).Draw(t, "which") {
	case 0:
		lower(&limits.MaxMigratingGlobally)
	case 1:
		lower(&limits.MaxMigratingPerNode)
	case 2:
		if limits.ObjectLimiters.Namespace == nil { // it is also what the limiter of namespaces counts by
			lower(&limits.MaxMigratingPerNamespace)
		}
	case 3:
		limits.SkippedGates, limits.SkipCheckExpectedReplicas = nil, false
	case 4:
		if limits.ObjectLimiters.Workload == nil {
			limits.ObjectLimiters.Workload = drawLimiter(t, "added")
		}
		if limits.ObjectLimiters.Namespace == nil {
			limits.ObjectLimiters.Namespace = drawLimiter(t, "added")
		}
	}
}

// history runs jobs through their lives, as their controller does, and holds every moment against the limits.
type history struct {
	in        Input
	created   int
	evictions map[types.UID][]time.Time
	spaces    map[string][]time.Time
}

func TestNoLimitIsExceededInAnySequence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := &history{in: Input{Now: noon, Limits: drawLimits(t), Workloads: map[types.UID]Workload{}}, evictions: map[types.UID][]time.Time{}, spaces: map[string][]time.Time{}}
		h.in.Limits.SkippedGates = nil
		for i := range 3 {
			name := fmt.Sprint("w", i)
			h.in.Workloads[types.UID(name)] = deployment(name, rapid.IntRange(1, 14).Draw(t, "replicas"), 0)
		}
		h.in.NamespacePods = map[string]int{"a": 20, "b": 20}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			h.step(t)
			h.check(t)
		}
	})
}

func (h *history) step(t *rapid.T) {
	switch rapid.IntRange(0, 6).Draw(t, "step") {
	case 0, 1:
		h.create(t)
	case 2:
		for _, outcome := range Decide(h.in, nil).Outcomes {
			if job := h.job(outcome.UID); outcome.Decision == Admitted {
				job.State = Running
			}
		}
	case 3:
		h.in.Now = h.in.Now.Add(time.Duration(rapid.IntRange(0, 200).Draw(t, "seconds")) * time.Second)
	case 4:
		h.each(t, func(job *Job) { h.evict(job) })
	case 6:
		h.each(t, func(job *Job) { // the pod that replaces the evicted one has a node
			if !job.EvictedAt.IsZero() && job.Home != "" {
				job.Home = ""
				h.replace(job)
			}
		})
	case 5:
		h.each(t, func(job *Job) { // a job fails at any time; one that succeeds brings its pod back
			job.State = Finished
			if job.Home != "" {
				job.Home = ""
				h.replace(job)
			}
		})
	}
}

// create adds jobs for pods that exist.
func (h *history) create(t *rapid.T) {
	id := types.UID(fmt.Sprint("w", rapid.IntRange(0, 2).Draw(t, "workload")))
	pods := h.in.Workloads[id].Pods
	if len(pods) == 0 {
		return
	}
	pod := rapid.SampledFrom(pods).Draw(t, "pod")
	h.created++
	h.in.Jobs = append(h.in.Jobs, Job{
		UID: types.UID(fmt.Sprint(h.created)), Name: fmt.Sprint("job", h.created), State: Pending, Created: h.in.Now, Pod: string(pod.UID), PodUID: pod.UID, Workload: id,
		Namespace: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "namespace"), Node: rapid.SampledFrom([]string{"n1", "n2"}).Draw(t, "node"),
		Evictability: evictability.Verdict{Allowed: true},
		Home:         rapid.SampledFrom([]Home{ReservedHome, AnyHome}).Draw(t, "home"), ReplacedFirst: rapid.Bool().Draw(t, "replaced first"),
	})
}

func (h *history) job(uid types.UID) *Job {
	for i := range h.in.Jobs {
		if h.in.Jobs[i].UID == uid {
			return &h.in.Jobs[i]
		}
	}
	return nil
}

// each calls for one running job, if there is one.
func (h *history) each(t *rapid.T, do func(job *Job)) {
	var running []*Job
	for i := range h.in.Jobs {
		if h.in.Jobs[i].State == Running {
			running = append(running, &h.in.Jobs[i])
		}
	}
	if len(running) > 0 {
		do(rapid.SampledFrom(running).Draw(t, "running"))
	}
}

func (h *history) evict(job *Job) {
	if !job.EvictedAt.IsZero() {
		return
	}
	job.EvictedAt = h.in.Now
	if job.ReplacedFirst { // its replacement is ready already
		h.replace(job)
		job.Home = ""
	}
	h.evictions[job.Workload] = append(h.evictions[job.Workload], h.in.Now)
	h.spaces[job.Namespace] = append(h.spaces[job.Namespace], h.in.Now)
	workload := h.in.Workloads[job.Workload]
	var left []WorkloadPod
	for _, pod := range workload.Pods {
		if pod.UID != job.PodUID {
			left = append(left, pod)
		}
	}
	workload.Pods = left
	h.in.Workloads[job.Workload] = workload
	for i := range h.in.Jobs { // others for the pod end
		if other := &h.in.Jobs[i]; other.State == Pending && other.PodUID == job.PodUID {
			other.State = Finished
		}
	}
}

func (h *history) replace(job *Job) {
	workload := h.in.Workloads[job.Workload]
	if !job.EvictedAt.IsZero() {
		workload.Pods = append(workload.Pods, WorkloadPod{UID: "new-" + job.UID, Ready: true})
	}
	h.in.Workloads[job.Workload] = workload
}

// check holds what runs, what is unavailable and what was evicted against the limits.
func (h *history) check(t *rapid.T) {
	limits, nodes, spaces, workloads, all, moving := h.in.Limits, map[string]int{}, map[string]int{}, map[types.UID]int{}, 0, map[types.UID]bool{}
	open := map[types.UID][]Home{}
	for _, job := range h.in.Jobs {
		if job.State == Running {
			all++
			nodes[job.Node]++
			spaces[job.Namespace]++
			workloads[job.Workload]++
			moving[job.PodUID] = !job.ReplacedFirst
			if job.Home != "" {
				open[job.Workload] = append(open[job.Workload], job.Home)
			}
		}
	}
	for id, homes := range open {
		if len(homes) > 1 && slices.Contains(homes, ReservedHome) {
			t.Fatalf("replacements of %s need the homes %v at a time: one may use the Reservation of another job", id, homes)
		}
	}
	exceeds := func(what string, used int, most *int32) {
		if set(most) && used > int(*most) {
			t.Fatalf("%s: %d, at most %d may be", what, used, *most)
		}
	}
	exceeds("jobs", all, limits.MaxMigratingGlobally)
	for node, used := range nodes {
		exceeds("jobs of "+node, used, limits.MaxMigratingPerNode)
	}
	for space, used := range spaces {
		exceeds("jobs of "+space, used, limits.MaxMigratingPerNamespace)
	}
	for id, workload := range h.in.Workloads {
		exceeds("jobs of "+string(id), workloads[id], new(int32(Maximum(workload.Replicas, limits.MaxMigratingPerWorkload))))
		down := workload.Replicas
		for _, pod := range workload.Pods {
			if !moving[pod.UID] {
				down--
			}
		}
		exceeds("unavailable pods of "+string(id), down, new(int32(Maximum(workload.Replicas, limits.MaxUnavailablePerWorkload))))
		if limiter := limits.ObjectLimiters.Workload; limiter != nil {
			value := limiter.MaxMigrating
			if value == nil {
				value = limits.MaxMigratingPerWorkload
			}
			h.window(t, limiter, h.evictions[id], Maximum(workload.Replicas, value))
		}
	}
	if limiter := limits.ObjectLimiters.Namespace; limiter != nil {
		for _, of := range h.spaces {
			if limiter.MaxMigrating != nil {
				h.window(t, limiter, of, Maximum(20, limiter.MaxMigrating))
			}
		}
	}
}

func (h *history) window(t *rapid.T, limiter *ObjectLimiter, evictions []time.Time, most int) {
	within := 0
	for _, at := range evictions {
		if h.in.Now.Sub(at) < limiter.Duration {
			within++
		}
	}
	if most = max(most, limiter.Burst, 1); within > most {
		t.Fatalf("%d evictions within %s, at most %d may be", within, limiter.Duration, most)
	}
}
