package trace

import "hash/fnv"

// Range of the request, in percent, that the maximum of a service's recording becomes.
const (
	lowestPeakPercent  = 40
	highestPeakPercent = 60
)

// Set is all recordings of a file or directory. It does not change and may be used concurrently.
type Set struct {
	// Services are recordings of services, VMs columns of tables; both in the order of files and columns.
	Services, VMs []*Series
}

// For returns the load of a pod, the same one each time. Replicas of a workload follow the same recording of a service, or each a
// different VM; when there are both kinds, the workload decides which.
func (s *Set) For(workload, pod string) Load {
	crowd, self := hash(workload), hash(pod)
	total := uint64(len(s.Services) + len(s.VMs))
	if len(s.VMs) == 0 || (len(s.Services) > 0 && crowd%total < uint64(len(s.Services))) {
		return serviceLoad(s.Services[crowd%uint64(len(s.Services))], crowd)
	}
	const percent = 0.01
	return Load{Series: s.VMs[self%uint64(len(s.VMs))], Scale: percent}
}

func serviceLoad(series *Series, crowd uint64) Load {
	if series.peak == 0 {
		return Load{Series: series}
	}
	percent := lowestPeakPercent + crowd>>32%(highestPeakPercent-lowestPeakPercent+1)
	return Load{Series: series, Scale: float64(percent) / 100 / float64(series.peak)}
}

func hash(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	// The low bits of FNV alternate with the last letter; folding the high ones in spreads replicas better.
	sum := h.Sum64()
	return sum ^ sum>>29
}
