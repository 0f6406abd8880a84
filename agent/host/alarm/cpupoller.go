package alarm

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/host/files"
	"koordinator.sh/koord/agent/host/machine"
)

const (
	// rateSamples is how many looks a step is compared with: a load that comes and goes within a second is no step each time.
	rateSamples = 10
	// openInterval is how often files are looked for that were not there.
	openInterval = time.Second
	// minStep in CPUs, on machines of which a twentieth is less.
	minStep = 0.1
)

// cpuPoller follows the CPU time of services: of all pods less those of the class BestEffort.
type cpuPoller struct {
	options         Options
	all, bestEffort files.File
	buffer          []byte
	// opened is when the files were looked for last.
	opened time.Time
	// used by services until a moment, which is zero before the first look, and by pods that can be held back.
	used, batch time.Duration
	at          time.Time
	// rates of the latest looks in CPUs, and how many looks there were.
	rates [rateSamples]float64
	count int
}

func newCPUPoller(options Options) *cpuPoller { return &cpuPoller{options: options} }

// stepped reports whether services used more since the previous poll than in any of those before, by more than a twentieth of the
// machine. It is false while that is unknown, and where best-effort pods use less than that: there is nothing to hold back.
func (l *cpuPoller) stepped(now time.Time) bool {
	used, batch, known := l.read(now)
	if !known {
		l.at, l.count = time.Time{}, 0
		return false
	}
	before, batchBefore, since := l.used, l.batch, l.at
	l.used, l.batch, l.at = used, batch, now
	if since.IsZero() || !now.After(since) {
		return false
	}
	// Both counters are not read at the same moment, so that the difference may seem to shrink.
	rate := max(float64(used-before), 0) / float64(now.Sub(since))
	most := 0.0
	for _, earlier := range l.rates[:min(l.count, rateSamples)] {
		most = max(most, earlier)
	}
	first := l.count == 0
	l.rates[l.count%rateSamples] = rate
	l.count++
	step := max(float64(l.options.CPUs)/20, minStep)
	return !first && rate > most+step && float64(batch-batchBefore)/float64(now.Sub(since)) >= step
}

// read returns the CPU time of services and of best-effort pods; false while kubelet has no cgroups.
func (l *cpuPoller) read(now time.Time) (services, batch time.Duration, known bool) {
	if l.all == nil && !l.open(now) {
		return 0, 0, false
	}
	all, err := l.time(l.all)
	bestEffort, problem := l.time(l.bestEffort)
	if err != nil || problem != nil {
		l.close()
		return 0, 0, false
	}
	return all - bestEffort, bestEffort, true
}

func (l *cpuPoller) time(file files.File) (time.Duration, error) {
	content, err := file.Read(l.buffer)
	if err != nil {
		return 0, err
	}
	l.buffer = content
	return machine.CPUTime(l.options.Layout.Version, content)
}

func (l *cpuPoller) open(now time.Time) bool {
	if age := now.Sub(l.opened); !l.opened.IsZero() && age >= 0 && age < openInterval {
		return false
	}
	l.opened = now
	layout := l.options.Layout
	var err error
	if l.all, err = l.options.Tree.Open(layout.Statistic(cgroup.CPUUsage, layout.Kubepods())); err != nil {
		l.all = nil
		return false
	}
	if l.bestEffort, err = l.options.Tree.Open(layout.Statistic(cgroup.CPUUsage, layout.QoS(corev1.PodQOSBestEffort))); err != nil {
		l.bestEffort = nil
		l.close()
		return false
	}
	return true
}

func (l *cpuPoller) close() {
	for _, file := range []*files.File{&l.all, &l.bestEffort} {
		if *file != nil {
			_ = (*file).Close() // nothing was written
			*file = nil
		}
	}
}
