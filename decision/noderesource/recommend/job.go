package recommend

import (
	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/decision/core/jobinsight"
	"koordinator.sh/koord/decision/core/podresize"
)

// Job is what former runs say of the next run of a job whose pods have one container.
type Job struct {
	// Runs that it rests on, and Basis what these have in common with the next one.
	Runs  int64
	Basis string
	// CPU in milli-cores and Memory in bytes, before the minimum of a pod and what running out of memory asks for.
	CPU, Memory Bounds
}

// ConfidentRuns is how many runs a day of observation is worth.
const ConfidentRuns = 10

// Confidences of the intervals whose upper ends are the targets and upper bounds of jobs: the 90th and the 95th percentile of CPU, and the 98th
// and, because no interval is wider, the 99.5th of memory, which are the percentiles of DefaultOptions.
const (
	jobCPUTarget    = 0.8
	jobCPUUpper     = 0.9
	jobMemoryTarget = 0.96
	jobMemoryUpper  = jobinsight.MostConfidence
)

// KindOf is the kind of job that all pods of a target run; false where they run several, or none, or have several containers, among which
// what was measured of runs cannot be divided.
func KindOf(pods []*corev1.Pod) (kind jobinsight.Kind, container string, ok bool) {
	for i, pod := range pods {
		containers := podresize.Containers(pod)
		each, isJob := jobinsight.KindOf(pod)
		if !isJob || len(containers) != 1 || i > 0 && (each != kind || containers[0].Name != container) {
			return jobinsight.Kind{}, "", false
		}
		kind, container = each, containers[0].Name
	}
	return kind, container, len(pods) > 0
}

// JobOf is what a store says of the next run of a kind; nil unless CPU and memory are known of runs of the same application. Other jobs of its
// queue say too little about it to size it by them.
func JobOf(store *jobinsight.Store, kind jobinsight.Kind) *Job {
	at := func(confidence float64, metric jobinsight.Metric) *jobinsight.Estimate {
		return store.Predict(kind, confidence, nil).Of(metric)
	}
	cpu, memory := at(jobCPUTarget, jobinsight.CPU), at(jobMemoryTarget, jobinsight.Memory)
	if cpu == nil || memory == nil || max(cpu.Level, memory.Level) > jobinsight.ByApplication {
		return nil
	}
	return &Job{
		Runs: int64(min(cpu.Runs, memory.Runs)), Basis: max(cpu.Level, memory.Level).String(),
		CPU:    ordered(cpu.Point*1000, cpu.High*1000, at(jobCPUUpper, jobinsight.CPU).High*1000),
		Memory: ordered(memory.Point, memory.High, at(jobMemoryUpper, jobinsight.Memory).High),
	}
}

func ordered(lower, target, upper float64) Bounds {
	out := Bounds{Lower: whole(lower), Target: whole(max(target, lower))}
	out.Upper = max(whole(upper), out.Target)
	return out
}

// confidence of ten runs is that of a day.
func (j *Job) confidence() float64 { return float64(j.Runs) / ConfidentRuns }

// bounds of one resource, in its unit: those of the job, and at least what the floor and the minimum ask for.
func (j *Job) bounds(of Bounds, least, floor int64, scale float64, terms *[]Term) Bounds {
	out := Bounds{Lower: max(of.Lower, least, floor), Target: max(of.Target, least, floor), Upper: max(of.Upper, least, floor)}
	if terms != nil {
		*terms = []Term{{TermRuns, float64(of.Target) / scale}, {TermMinimum, float64(least) / scale}}
		if floor > 0 {
			*terms = append(*terms, Term{TermOutOfMemory, float64(floor) / scale})
		}
	}
	return out
}
