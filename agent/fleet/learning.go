package fleet

import (
	"time"

	"koordinator.sh/koord/agent/metrics"
	"koordinator.sh/koord/agent/prediction"
	"koordinator.sh/koord/api/extension"
)

const (
	// learnedPast is how far back an agent knows its pods: a day, in which services show their whole rhythm.
	learnedPast = 24 * time.Hour
	// learnedStep is the distance of the moments that are looked at.
	learnedStep = 15 * time.Minute
)

// learnPast trains the prediction with what pods used before the agent knew them, as an agent would have that had been
// there: a simulated machine can be asked for its past. The classes are trained as well when everything is new.
func (a *agent) learnPast(now time.Time, pods []*podRecord, everything bool) {
	unknown := make([]bool, len(pods))
	work := everything
	for i, pod := range pods {
		unknown[i] = pod.sim.Band == extension.PriorityProd && !a.predictor.Knows(pod.sim.UID) &&
			pod.sim.Started.Before(now.Add(-learnedStep))
		work = work || unknown[i]
	}
	if !work {
		return
	}
	samples := make([]prediction.Sample, 0, len(pods))
	for at := now.Add(-learnedPast).Truncate(learnedStep); at.Before(now); at = at.Add(learnedStep) {
		system, uses := a.host.At(at)
		samples = samples[:0]
		for i, pod := range pods {
			if (everything || unknown[i]) && !at.Before(pod.sim.Started) {
				samples = append(samples, prediction.Sample{UID: pod.sim.UID, Band: pod.sim.Band, Usage: metrics.Usage(uses[i])})
			}
		}
		if everything {
			a.predictor.Train(at, learnedStep, samples, metrics.Usage(system))
			continue
		}
		for _, sample := range samples {
			a.predictor.TrainPod(at, learnedStep, sample)
		}
	}
}

// train learns from the last minute.
func (a *agent) train(at time.Time) {
	a.nextTraining = at.Add(prediction.TrainInterval)
	a.predictor.Learn(at, a.metrics, a.predicted())
}

// estimate predicts what the prod pods that run will not need.
func (a *agent) estimate(at time.Time) prediction.Estimate {
	return a.predictor.Estimate(at, a.predicted(), a.node.allocatable)
}

// predicted are the pods that run, as the prediction knows them.
func (a *agent) predicted() []prediction.Pod {
	pods := make([]prediction.Pod, len(a.running))
	for i, pod := range a.running {
		pods[i] = prediction.Pod{UID: pod.sim.UID, Band: pod.sim.Band, Request: pod.request, Started: pod.sim.Started}
	}
	return pods
}
