package arbitration

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// slots are what running jobs hold, and what jobs evicted.
type slots struct {
	all        int
	nodes      map[string]int
	namespaces map[string]int
	workloads  map[types.UID]int
	// unattributed jobs count against every node, and every workload of their namespace.
	unattributed            int
	unattributedByNamespace map[string]int
	// running are the jobs that move a pod, by namespace and name, and by UID. Of those, replacedFirst leave once another one is ready.
	running       map[[2]string]string
	moving        map[types.UID]bool
	replacedFirst map[types.UID]bool
	// gone are running jobs by workload whose pods may be gone from it; evicted are pods that finished jobs evicted.
	workloadPods map[types.UID][]types.UID
	evicted      map[types.UID]bool
	// homes that replacements still need, by workload, and by namespace of jobs whose workload is not known.
	homes             map[types.UID]homes
	unattributedHomes map[string]homes
	// evictions in the order of time, and how many running jobs have not evicted yet.
	workloadEvictions  map[types.UID]*evictions
	namespaceEvictions map[string]*evictions
}

// evictions of a workload or of a namespace.
type evictions struct {
	past   []time.Time
	coming int
}

func count(in *Input) *slots {
	s := &slots{
		nodes: map[string]int{}, namespaces: map[string]int{}, workloads: map[types.UID]int{}, unattributedByNamespace: map[string]int{},
		running: map[[2]string]string{}, moving: map[types.UID]bool{}, replacedFirst: map[types.UID]bool{},
		workloadPods: map[types.UID][]types.UID{}, evicted: map[types.UID]bool{},
		workloadEvictions: map[types.UID]*evictions{}, namespaceEvictions: map[string]*evictions{},
		homes: map[types.UID]homes{}, unattributedHomes: map[string]homes{},
	}
	for i := range in.Jobs {
		job := &in.Jobs[i]
		if job.State == Running {
			s.take(job)
		} else if job.State == Finished {
			s.open(job)
		}
		if job.EvictedAt.IsZero() {
			continue
		}
		if job.State == Finished && job.PodUID != "" {
			s.evicted[job.PodUID] = true
		}
		at := job.EvictedAt
		if at.After(in.Now) { // written by another clock
			at = in.Now
		}
		for _, of := range s.evictionsOf(job) {
			of.past = append(of.past, at)
		}
	}
	for _, of := range s.workloadEvictions {
		slices.SortFunc(of.past, time.Time.Compare)
	}
	for _, of := range s.namespaceEvictions {
		slices.SortFunc(of.past, time.Time.Compare)
	}
	return s
}

// take the slots of a job that runs.
func (s *slots) take(job *Job) {
	s.all++
	s.open(job)
	s.namespaces[job.Namespace]++
	s.running[[2]string{job.Namespace, job.Pod}] = job.Name
	if job.PodUID != "" {
		s.moving[job.PodUID] = true
		s.replacedFirst[job.PodUID] = job.ReplacedFirst
	}
	if job.Unattributed {
		s.unattributed++
		s.unattributedByNamespace[job.Namespace]++
	} else {
		if job.Node != "" {
			s.nodes[job.Node]++
		}
		if job.Workload != "" {
			s.workloads[job.Workload]++
			s.workloadPods[job.Workload] = append(s.workloadPods[job.Workload], job.PodUID)
		}
	}
	if job.EvictedAt.IsZero() {
		for _, of := range s.evictionsOf(job) {
			of.coming++
		}
	}
}

// evictionsOf are those of the workload and of the namespace of a job.
func (s *slots) evictionsOf(job *Job) []*evictions {
	found := []*evictions{entry(s.namespaceEvictions, job.Namespace)}
	if job.Workload != "" {
		found = append(found, entry(s.workloadEvictions, job.Workload))
	}
	return found
}

func entry[K comparable](of map[K]*evictions, key K) *evictions {
	if of[key] == nil {
		of[key] = &evictions{}
	}
	return of[key]
}
