package koordlet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/klog/v2"

	"koordinator.sh/koord/agent/checkpoint"
	"koordinator.sh/koord/agent/prediction"
	"koordinator.sh/koord/agent/state"
	"koordinator.sh/koord/api/extension"
	"koordinator.sh/koord/decision/core/capacity"
	"koordinator.sh/koord/decision/core/podrequest"
	"koordinator.sh/koord/decision/core/predict"
)

// compatible is the predictor that models of the checkpoint belong to.
const compatible = "koordinator"

// recordExpiry is the age from which the record of a profile is not restored: what was not measured meanwhile counts as it was
// before, and most profiles read a day.
const recordExpiry = 3 * time.Hour

// maxSkew is how far in the future a record may be, because clocks are set.
const maxSkew = 5 * time.Minute

// storedPrediction is the content of the file: what Koordinator's predictor learned, and what a chosen profile predicts from.
type storedPrediction struct {
	prediction.Checkpoint
	// Record as predict.DecodeRecord reads it; empty without a profile.
	Record []byte `json:"record,omitempty"`
}

// predictionStore saves what the prediction learned, so that a restart does not take a day's knowledge away.
type predictionStore struct {
	file        checkpoint.File
	measurement *measurement
	// saveFailed says that the last checkpoint was not saved; it is logged when that changes.
	saveFailed bool
}

func newPredictionStore(options *Options, measurement *measurement) *predictionStore {
	return &predictionStore{file: checkpoint.File{Path: options.predictionFile()}, measurement: measurement}
}

// restore takes over what was learned before the start. Without it the prediction starts empty.
func (l *predictionStore) restore(ctx context.Context) {
	var from storedPrediction
	found, err := l.file.Load(&from)
	if err == nil && found {
		now := l.measurement.options.Clock.Now()
		l.measurement.mu.Lock()
		err = errors.Join(l.measurement.predictor.Restore(from.Checkpoint, now), l.measurement.history.restore(from.Record, now))
		l.measurement.mu.Unlock()
	}
	if err != nil {
		klog.FromContext(ctx).Error(err, "Failed to restore some predictions from the checkpoint, starting over")
	}
}

// run saves what was learned each interval, and at the end. A disk that is full or read-only is logged once, and the agent goes on.
func (l *predictionStore) run(ctx context.Context) {
	ticker := l.measurement.options.Clock.NewTicker(prediction.CheckpointInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			l.save(ctx)
			return
		case <-ticker.C():
			l.save(ctx)
		}
	}
}

func (l *predictionStore) save(ctx context.Context) {
	l.measurement.mu.Lock()
	at := l.measurement.last.Time
	if at.IsZero() {
		l.measurement.mu.Unlock()
		return // nothing was learned, which is no reason to overwrite what was before
	}
	from := storedPrediction{Checkpoint: l.measurement.predictor.Checkpoint(at), Record: l.measurement.history.encoded()}
	l.measurement.mu.Unlock()
	err := l.file.Save(from)
	if err != nil && !l.saveFailed {
		klog.FromContext(ctx).Error(err, "Failed to save the prediction checkpoint, will retry")
	}
	l.saveFailed = err != nil
}

// history is what the profiles other than Koordinator's predict from.
type history struct {
	profile predict.Profile
	record  *predict.Record
}

// isProd reports whether a pod is predicted.
func isProd(pod *state.Pod) bool { return pod.Requests.Band == extension.PriorityProd }

// newHistory returns nil for Koordinator's own predictor, and where the profile is not known, which options are checked for.
func newHistory(name string) *history {
	profile, err := predict.ProfileNamed(name)
	if err != nil || name == compatible {
		return nil
	}
	out := &history{profile: profile, record: predict.NewRecord()}
	out.record.Remember(profile)
	return out
}

// observe takes what prod pods used in the last minute.
func (h *history) observe(m *measurement, at time.Time) {
	var samples []predict.Sample
	for _, pod := range m.cluster.Pods() {
		used, sampled := m.metrics.PodPercentile(pod.UID, at, prediction.TrainInterval, prediction.TrainFraction)
		if !sampled || !pod.Running() || !isProd(pod) {
			continue
		}
		requested, limits := pod.Requests.Requests.Plain, podrequest.LimitsOf(pod.Object).Plain
		samples = append(samples, predict.Sample{
			Pod: string(pod.UID), Prod: true,
			CPU:    predict.Held{Used: float64(used.NanoCores) / 1e9, Requested: float64(requested.MilliCPU) / 1000, Limit: float64(limits.MilliCPU) / 1000},
			Memory: predict.Held{Used: float64(used.Memory), Requested: float64(requested.Memory), Limit: float64(limits.Memory)},
		})
	}
	h.record.Observe(at, samples)
}

// encoded is the record for a checkpoint; nil without a profile.
func (h *history) encoded() []byte {
	if h == nil {
		return nil
	}
	data, _ := h.record.MarshalBinary() // it never fails
	return data
}

// restore takes over the record of a checkpoint, unless it is too old. One of the future is refused: nothing would be observed until
// the clock is there.
func (h *history) restore(data []byte, now time.Time) error {
	if h == nil || len(data) == 0 {
		return nil
	}
	record, err := predict.DecodeRecord(data, h.profile)
	if err != nil {
		return fmt.Errorf("restore the record of profile %s: %w", h.profile.Name, err)
	}
	age := now.Sub(record.Last())
	if age < -(predict.RecordStep + maxSkew) {
		return fmt.Errorf("restore the record of profile %s: it is %s in the future", h.profile.Name, -age)
	}
	if age <= recordExpiry {
		h.record = record
	}
	return nil
}

// estimate predicts for prod pods; false until a day was observed, in which Koordinator's predictor does.
func (h *history) estimate() (prediction.Estimate, bool) {
	if h == nil || h.record.Span() < prediction.DefaultColdStart {
		return prediction.Estimate{}, false
	}
	forecast := h.record.Forecast(predict.Mid, h.profile, prediction.DefaultColdStart)
	if forecast == nil {
		return prediction.Estimate{}, false
	}
	peak := podrequest.Amount{MilliCPU: int64(forecast.CPU.Peak.Value*1000 + 0.999999), Memory: int64(forecast.Memory.Peak.Value)}
	return prediction.Estimate{
		Peak: peak,
		Reclaimable: podrequest.Amount{
			MilliCPU: max(int64(forecast.CPU.Requested*1000)-peak.MilliCPU, 0), Memory: max(int64(forecast.Memory.Requested)-peak.Memory, 0),
		},
		ColdPods: forecast.CPU.Peak.ColdPods,
	}, true
}

// estimate is the prediction for the node's NodeMetric; nil while the node is not known.
func (m *measurement) estimate() *prediction.Estimate {
	node := m.cluster.Node()
	if node == nil {
		return nil
	}
	if estimate, known := m.history.estimate(); known {
		return &estimate
	}
	estimate := m.predictor.Estimate(m.last.Time, m.predicted(), capacity.Of(node).Raw)
	return &estimate
}
