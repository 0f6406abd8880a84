package arbitration

import (
	"cmp"
	"slices"
	"time"
)

// group of jobs that are moved one after the other; most jobs are a group of their own.
type group struct {
	key string
	// running jobs of the group, the best rank of its pending ones, and when the youngest of them was created.
	running int
	rank    int
	created time.Time
}

// place of a pending job in the order.
type place struct {
	job   *Job
	group *group
}

// order of the pending jobs. Groups that are on the move already come first, then those with the first pods in the order of pods; of
// pods that are alike, the one with the youngest job, whose reason is the freshest.
func order(in *Input, slots *slots) []*Job {
	groups := map[string]*group{}
	var places []place
	for i := range in.Jobs {
		job := &in.Jobs[i]
		if job.State != Pending {
			continue
		}
		key := in.groupOf(job)
		of := groups[key]
		if of == nil {
			of = &group{key: key, rank: job.Rank, created: job.Created}
			if in.Workloads[job.Workload].Together {
				of.running = slots.workloads[job.Workload]
			}
			groups[key] = of
		}
		of.rank = min(of.rank, job.Rank)
		if job.Created.After(of.created) {
			of.created = job.Created
		}
		places = append(places, place{job: job, group: of})
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Or(compareGroups(a.group, b.group), compareJobs(a.job, b.job)) })
	jobs := make([]*Job, 0, len(places))
	for _, place := range places {
		jobs = append(jobs, place.job)
	}
	return jobs
}

// groupOf is the workload of a job that is moved together, or the job itself.
func (in *Input) groupOf(job *Job) string {
	if job.Workload != "" && in.Workloads[job.Workload].Together {
		return "workload/" + string(job.Workload)
	}
	return "job/" + job.Name + "/" + string(job.UID)
}

func compareGroups(a, b *group) int {
	return cmp.Or(cmp.Compare(b.running, a.running), cmp.Compare(a.rank, b.rank), b.created.Compare(a.created), cmp.Compare(a.key, b.key))
}

func compareJobs(a, b *Job) int {
	return cmp.Or(cmp.Compare(a.Rank, b.Rank), b.Created.Compare(a.Created), cmp.Compare(a.Name, b.Name), cmp.Compare(a.UID, b.UID))
}
