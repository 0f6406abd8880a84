package simulated

import (
	"math"
	"time"
)

// Purposes for which independent random numbers are drawn of one identity.
const (
	purposePhase uint64 = iota + 1
	purposeLevel
	purposeSwing
	purposePlateau
	purposeGrowth
	purposeJitter
	purposeNoise
	purposeMemoryNoise
)

const day = 24 * time.Hour

// behaviour is what does not change about a pod's demand, worked out once.
type behaviour struct {
	profile Profile
	load    Load
	// started is in seconds of Unix time.
	started float64
	// basis is what a fraction of one means, in billionths of a CPU; ceiling is the most the pod may use.
	basis, ceiling float64
	// level and swing are fractions of basis; phase is in seconds.
	level, swing, phase float64
	// low and high bound the fraction of a service.
	low, high float64
	noiseID   uint64
	// plateau in bytes, reached with the time constant growth, in seconds; memoryCeiling bounds it.
	plateau, growth, memoryCeiling float64
}

func newBehaviour(seed uint64, pod *Pod, capacityNanos, capacityMemory float64) behaviour {
	crowd, self := identity(seed, pod.Workload), identity(seed, pod.Name)
	b := behaviour{
		profile: pod.Profile,
		load:    pod.Load,
		started: seconds(pod.Started),
		basis:   float64(pod.Request.MilliCPU) * 1e6,
		ceiling: float64(pod.Limit.MilliCPU) * 1e6,
		noiseID: mix(self + purposeNoise),
	}
	if b.basis <= 0 {
		b.basis = emptyMilliCPU * 1e6
	}
	wanted := max(b.ceiling, b.basis)
	if b.ceiling <= 0 || b.ceiling > capacityNanos {
		b.ceiling = capacityNanos
	}
	b.shape(pod.CPUPercent/100, wanted, crowd, self)
	b.grow(pod, self, capacityMemory)
	return b
}

// shape sets level, swing and phase. Replicas of a workload share level and phase but for a little. A batch pod wants
// what it is given in billionths of a CPU.
func (b *behaviour) shape(level, wanted float64, crowd, self uint64) {
	b.phase = between(crowd, purposePhase, -4, 4)*3600 + between(self, purposeJitter, -20, 20)*60
	b.level = level
	b.high = math.Inf(1)
	switch b.profile {
	case ProfileService:
		if level == 0 {
			b.level = between(crowd, purposeLevel, 0.20, 0.30)
			b.low, b.high = 0.10, 0.40
		}
		b.swing = b.level * between(crowd, purposeSwing, 0.30, 0.45)
	case ProfileSteady:
		if level == 0 {
			b.level = 0.25
		}
	case ProfileHot:
		if level == 0 {
			b.level = 0.90
		}
	default:
		if level == 0 {
			b.level = wanted / b.basis
		}
	}
}

// grow sets how memory grows: services take hours to reach 45-80 % of their request, others minutes to 60-90 %.
func (b *behaviour) grow(pod *Pod, self uint64, capacity float64) {
	ceiling := float64(pod.Request.Memory)
	if ceiling <= 0 {
		ceiling = emptyMemory
	}
	if limit := float64(pod.Limit.Memory); limit > 0 {
		ceiling = min(ceiling, limit)
	}
	b.memoryCeiling = min(ceiling, capacity)
	if b.profile == ProfileBatch {
		b.plateau = b.memoryCeiling * between(self, purposePlateau, 0.60, 0.90)
		b.growth = between(self, purposeGrowth, 2, 6) * 60
		return
	}
	b.plateau = b.memoryCeiling * between(self, purposePlateau, 0.45, 0.80)
	b.growth = between(self, purposeGrowth, 1, 4) * 3600
}

// cpu is what the pod would use if the machine were empty, in billionths of a CPU.
func (b *behaviour) cpu(at float64, moment time.Time) float64 {
	if at < b.started {
		return 0
	}
	if b.load != nil {
		return min(max(b.load.At(moment), 0)*b.basis, b.ceiling)
	}
	fraction := b.level
	switch b.profile {
	case ProfileService:
		// The afternoon's peak is at 14:00 UTC, give or take the phase.
		angle := 2 * math.Pi * (at - 14*3600 + b.phase) / day.Seconds()
		fraction += b.swing*math.Cos(angle) + b.level*(0.08*noise(b.noiseID, at, time.Minute)+0.06*noise(^b.noiseID, at, 10*time.Minute))
		fraction = min(max(fraction, b.low), b.high)
	case ProfileSteady, ProfileHot:
		fraction *= 1 + 0.04*noise(b.noiseID, at, time.Minute)
	default:
		fraction *= 0.95 + 0.05*noise(b.noiseID, at, 30*time.Second)
	}
	return min(max(fraction, 0)*b.basis, b.ceiling)
}

// memory is the pod's memory, in bytes.
func (b *behaviour) memory(at float64) float64 {
	age := at - b.started
	if age < 0 {
		return 0
	}
	const young = 0.3
	grown := 1 - (1-young)*math.Exp(-age/b.growth)
	wobble := 1 + 0.01*noise(b.noiseID+purposeMemoryNoise, at, 2*time.Minute)
	return min(b.plateau*grown*wobble, b.memoryCeiling)
}

func seconds(at time.Time) float64 { return float64(at.UnixNano()) / 1e9 }
