package qos

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/agent/executor"
	"koordinator.sh/koord/agent/host/cgroup"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
	"koordinator.sh/koord/decision/core/cfs"
	"koordinator.sh/koord/decision/core/freshness"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/nodeqos/burst"
	"koordinator.sh/koord/decision/nodeqos/nodefeature"
)

const (
	// The use of the shared CPUs is averaged over poolPeriods readings, at most poolWindow.
	poolPeriods = 5
	poolWindow  = 10 * time.Second
	// fullest is the share of its tokens that a new container begins with at most.
	fullest = 0.5
)

// CPUBurst lets containers of services exceed their CPU limit for a while.
type CPUBurst struct {
	// Fill is how full the bucket of a new container is, 0 to 1; at random below a half where it is nil, so that containers that
	// start together do not shrink together.
	Fill func() float64

	pool poolUse
	// decided last for each pod that may burst, by UID.
	decided map[types.UID]burst.PodResult
	// grown are the cgroups of containers that have a larger quota by this feature.
	grown map[string]bool
}

// NewCPUBurst returns the feature.
func NewCPUBurst() *CPUBurst { return &CPUBurst{} }

// Name implements Feature.
func (*CPUBurst) Name() string { return nodefeature.CPUBurst.Name }

// Decided returns what was decided last for each pod that may burst, by UID, with its trace.
func (b *CPUBurst) Decided() map[types.UID]burst.PodResult { return b.decided }

// DesiredValues implements Feature. While no pod may burst it wants nothing.
func (b *CPUBurst) DesiredValues(in NodeSnapshot) []executor.DesiredValue {
	b.pool.observe(in)
	pool := b.pool.state(in)
	before := b.decided
	b.decided = map[types.UID]burst.PodResult{}
	grown := map[string]bool{}
	var values []executor.DesiredValue
	for _, pod := range in.Pods {
		config, bursts := burstConfig(in.SLO.CPUBurstStrategy, pod)
		if !bursts || !pod.Running() {
			continue
		}
		result, groups := b.step(in, pod, config, pool, before[pod.UID].Buckets)
		b.decided[pod.UID] = result
		for i := range result.Containers {
			if c := &result.Containers[i]; grows(c) {
				grown[groups.containers[c.ID]] = true
			}
		}
		values = append(values, burstWishes(in, result, groups)...)
	}
	b.grown = grown
	return values
}

// grows is true for a container that has a larger quota than its limit's.
func grows(c *burst.ContainerResult) bool { return c.Operation != burst.Leave && c.Quota > c.Base }

// burstConfig says how far a pod may burst; false when not at all. An annotation that cannot be read is left out.
func burstConfig(node *slov1alpha1.CPUBurstStrategy, pod *state.Pod) (burst.Config, bool) {
	var strategy *slov1alpha1.CPUBurstConfig
	if node != nil {
		strategy = &node.CPUBurstConfig
	}
	annotation, err := slov1alpha1.PodCPUBurst(pod.Object.Annotations)
	if err != nil {
		annotation = nil
	}
	config := burst.ConfigOf(strategy, annotation)
	return config, config.Policy != slov1alpha1.CPUBurstNone && burst.Burstable(extension.PodQoSClass(pod.Object)) && burst.Burstable(pod.QoS())
}

// groups are the cgroups of a pod and its containers, by ID.
type groups struct {
	pod        string
	containers map[string]string
}

// step decides one round of a pod.
func (b *CPUBurst) step(in NodeSnapshot, pod *state.Pod, config burst.Config, pool burst.Pool, buckets map[string]burst.Bucket) (burst.PodResult, groups) {
	found := groups{pod: in.Layout.Pod(pod.Class(), pod.UID), containers: map[string]string{}}
	input := burst.PodInput{
		Now: in.Now, Config: config, Pool: pool, Limit: podrequest.LimitsOf(pod.Object).Plain.MilliCPU, CurrentQuota: in.quotaOf(found.pod),
		Buckets: buckets, Fill: b.fill(), NormalizationPercent: 100, BurstWithinQuota: !in.supports(cgroup.CPUBvt),
	}
	if in.QuotaNormalized {
		input.NormalizationPercent = in.normalization()
	}
	limits := limitsOf(pod.Object)
	for _, container := range in.Containers.Of(pod, in.Now) {
		found.containers[container.ID] = container.Cgroup
		c := burst.Container{
			Name: container.Name, ID: container.ID, Limit: limits[container.Name], CurrentQuota: in.quotaOf(container.Cgroup),
			Throttled: in.throttled(container.ID),
		}
		if !b.grown[container.Cgroup] {
			// What is more than the limit's is not of this feature, or of an agent that crashed: it begins with the limit's.
			c.CurrentQuota = min(c.CurrentQuota, cfs.Normalized(cfs.Quota(c.Limit), input.NormalizationPercent))
		}
		if in.ContainerUsed != nil {
			if used, measured := in.ContainerUsed(container.ID); measured {
				c.Used = new(used.Amount().MilliCPU)
			}
		}
		input.Containers = append(input.Containers, c)
	}
	return burst.Step(input), found
}

func (b *CPUBurst) fill() float64 {
	if b.Fill == nil {
		return rand.Float64() * fullest
	}
	return b.Fill()
}

// burstWishes are those of one pod: the time that may be saved, and quotas as long as one of them is more than its limit's. One
// that is back at its limit is given back.
func burstWishes(in NodeSnapshot, result burst.PodResult, at groups) []executor.DesiredValue {
	saves := in.supports(cgroup.CPUBurst)
	var values []executor.DesiredValue
	want := func(setting cgroup.Setting, at string, value int64, why string) {
		values = append(values, executor.DesiredValue{Setting: setting, Cgroup: at, Value: strconv.FormatInt(value, 10), Why: why})
	}
	larger := false
	for i := range result.Containers {
		c := &result.Containers[i]
		if saves && c.BurstMicros > 0 {
			want(cgroup.CPUBurst, at.containers[c.ID], c.BurstMicros, fmt.Sprintf("%d%% of the limit may be saved up", result.Config.CPUBurstPercent))
		}
		if grows(c) {
			larger = true
			want(cgroup.CPUQuota, at.containers[c.ID], c.Quota, fmt.Sprintf("%s: %s", c.Operation, c.Reason))
		}
	}
	if saves && result.BurstMicros > 0 {
		want(cgroup.CPUBurst, at.pod, result.BurstMicros, "the sum of its containers")
	}
	if larger && result.Quota > 0 && result.Current > 0 {
		want(cgroup.CPUQuota, at.pod, result.Quota, "its containers have more than their limits")
	}
	return values
}

// limitsOf are the CPU limits of containers in milli-cores, by name.
func limitsOf(pod *corev1.Pod) map[string]int64 {
	limits := map[string]int64{}
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			cpu := containers[i].Resources.Limits[corev1.ResourceCPU]
			limits[containers[i].Name] = cpu.MilliValue()
		}
	}
	return limits
}

// quotaOf reads the quota that is in force in a cgroup; none where it cannot be read.
func (s *NodeSnapshot) quotaOf(at string) int64 {
	value, found := s.read(cgroup.CPUQuota, at)
	if !found {
		return cfs.Unlimited
	}
	quota, err := strconv.ParseInt(value, 10, 64)
	if err != nil {
		return cfs.Unlimited
	}
	return quota
}

// throttled reports whether a container's quota held it back since the last reading; false when that was not measured.
func (s *NodeSnapshot) throttled(id string) bool {
	if s.ContainerThrottled == nil {
		return false
	}
	throttling, measured := s.ContainerThrottled(id)
	return measured && throttling.Ratio > 0
}

// poolUse is what was used of the shared CPUs lately.
type poolUse struct{ samples []poolSample }

// poolSample is one reading, in milli-cores.
type poolSample struct {
	at time.Time
	// node is what all of it uses, and apart what pods use that are not on the shared CPUs, or give way there.
	node, apart int64
}

// observe takes the latest reading, and forgets those that are too old. A clock that was set back forgets all.
func (p *poolUse) observe(in NodeSnapshot) {
	window := min(poolPeriods*in.Period, max(poolWindow, in.Period))
	kept := p.samples[:0]
	for _, sample := range p.samples {
		if age := in.Now.Sub(sample.at); age > 0 && age < window {
			kept = append(kept, sample)
		}
	}
	p.samples = kept
	used, measured := in.Used()
	if !measured {
		return
	}
	sample := poolSample{at: in.Now, node: used.Amount().MilliCPU}
	for _, pod := range in.Pods {
		if burst.Burstable(pod.QoS()) {
			continue
		}
		if used, measured := in.PodUsed(pod.UID); measured {
			sample.apart += used.Amount().MilliCPU
		}
	}
	p.samples = append(p.samples, sample)
}

// state is that of the shared CPUs on average.
func (p *poolUse) state(in NodeSnapshot) burst.Pool {
	input := burst.PoolInput{Now: in.Now, Capacity: in.Capacity.MilliCPU}
	if in.SLO.CPUBurstStrategy != nil {
		input.ThresholdPercent = in.SLO.CPUBurstStrategy.SharePoolThresholdPercent
	}
	if count := int64(len(p.samples)); count > 0 {
		input.Observation = freshness.Observation{At: p.samples[count-1].at, Period: in.Period}
		var node, apart int64
		for _, sample := range p.samples {
			node, apart = node+sample.node, apart+sample.apart
		}
		input.NodeUsed = node / count
		input.Pods = append(input.Pods, burst.PoolPod{QoS: extension.QoSBE, Used: apart / count})
	}
	for _, pod := range in.Pods {
		if class := pod.QoS(); class == extension.QoSLSE || class == extension.QoSLSR {
			input.Pods = append(input.Pods, burst.PoolPod{QoS: class, Requested: pod.Requests.Requests.Plain.MilliCPU})
		}
	}
	return burst.PoolOf(input)
}
