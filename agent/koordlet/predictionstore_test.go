package koordlet

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"koordinator.sh/koord/agent/checkpoint"
	"koordinator.sh/koord/agent/prediction"
)

// learner is an agent that predicts by a profile, with a state directory that outlives it.
type learner struct {
	*rig
	learned *predictionStore
}

func newLearner(t *testing.T, directory, predictor string) *learner {
	l := &learner{rig: newRig(t, func(o *Options) {
		o.ReadOnly, o.StateDirectory, o.Predictor, o.SamplePeriod = true, directory, predictor, 10*time.Second
	})}
	l.machine.use("service", 2)
	l.learned = newPredictionStore(l.options, l.measurement)
	synctest.Wait()
	return l
}

// live restores, runs for a time, and saves at the end.
func (l *learner) live(d time.Duration) {
	l.learned.restore(l.ctx)
	l.group.Go(func() { l.measurement.run(l.ctx, l.enforcement) })
	l.group.Go(func() { l.learned.run(l.ctx) })
	l.after(d)
}

// predicted is what the profile says that prod pods will not use; false while Koordinator's predictor does.
func (l *learner) predicted() (prediction.Estimate, bool) {
	l.measurement.mu.Lock()
	defer l.measurement.mu.Unlock()
	return l.measurement.history.estimate()
}

// TestAProfilePredictsWhatIsReported: a service that uses 2 CPUs of 8 leaves 6, from which Koordinator's predictor keeps a margin.
func TestAProfilePredictsWhatIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLearner(t, t.TempDir(), "balanced")
		defer l.stop()
		l.live(23 * time.Hour)
		if got, known := l.predicted(); known {
			t.Errorf("%+v is predicted within the first day", got)
		}
		reported := func() float64 {
			status := l.measurement.status(time.Now())
			if status == nil || status.ProdReclaimableMetric == nil {
				t.Fatalf("nothing is reported: %+v", status)
			}
			return status.ProdReclaimableMetric.Resource.ResourceList.Name(corev1.ResourceCPU, "").AsApproximateFloat64()
		}
		if got := reported(); got > 5.85 {
			t.Errorf("%g CPUs are reported by Koordinator's predictor, want a margin", got)
		}
		l.after(2 * time.Hour)
		got, known := l.predicted()
		if !known || got.ColdPods != 0 || math.Abs(float64(got.Peak.MilliCPU)-2000) > 20 || math.Abs(float64(got.Reclaimable.MilliCPU)-6000) > 20 {
			t.Errorf("predicted is %+v, %t; want a peak of 2 CPUs and 6 reclaimable", got, known)
		}
		if wantMemory := int64(15 << 30); got.Reclaimable.Memory < wantMemory-1<<20 || got.Reclaimable.Memory > wantMemory {
			t.Errorf("%d bytes are reclaimable, want about %d", got.Reclaimable.Memory, wantMemory)
		}
		if got := reported(); math.Abs(got-6) > 0.02 {
			t.Errorf("%g CPUs are reported, want the 6 that were predicted", got)
		}
	})
}

func TestWhatAProfileLearnedSurvivesARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		directory := t.TempDir()
		file := checkpoint.File{Path: filepath.Join(directory, "prediction.json")}
		// restart runs an agent for a while, and reports whether its profile predicts as soon as it runs.
		restart := func(directory, predictor string, d time.Duration) bool {
			l := newLearner(t, directory, predictor)
			defer l.stop()
			l.live(time.Minute)
			got, known := l.predicted()
			if known && (math.Abs(float64(got.Peak.MilliCPU)-2000) > 20 || got.ColdPods != 0) {
				t.Errorf("%+v is predicted after a restart, want a peak of 2 CPUs", got)
			}
			l.after(d)
			return known
		}
		if restart(directory, "balanced", 25*time.Hour) {
			t.Error("an agent without a past predicts")
		}
		for _, step := range []struct {
			name      string
			predictor string
			away      time.Duration
			// change is done to what was kept.
			change func(*storedPrediction)
			want   bool
		}{
			{"at once", "balanced", 0, nil, true},
			{"after two hours", "balanced", 2 * time.Hour, nil, true},
			{"with another profile", "safe", 0, nil, true},
			{"with a record that is damaged", "safe", 0, func(k *storedPrediction) { k.Record = k.Record[:len(k.Record)-1] }, false},
			{"a record of the future", "safe", 0, func(k *storedPrediction) { k.Record = shifted(k.Record) }, false},
			{"after four hours", "safe", 4 * time.Hour, nil, false},
			{"with Koordinator's predictor", "koordinator", 0, nil, false},
		} {
			whole, err := os.ReadFile(file.Path)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(step.away)
			if step.change != nil {
				var reconcilers storedPrediction
				if _, err := file.Load(&reconcilers); err != nil || len(reconcilers.Record) == 0 {
					t.Fatalf("%d bytes are kept, %v", len(reconcilers.Record), err)
				}
				step.change(&reconcilers)
				if err := file.Save(reconcilers); err != nil {
					t.Fatal(err)
				}
			}
			if got := restart(directory, step.predictor, time.Minute); got != step.want {
				t.Errorf("%s: the profile predicts: %t, want %t", step.name, got, step.want)
			}
			if !step.want {
				if err := os.WriteFile(file.Path, whole, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		if restart(filepath.Join(directory, "none"), "balanced", 11*time.Minute) {
			t.Error("an agent that cannot keep anything predicts")
		}
	})
}

// shifted has the last step of an encoded record be far in the future.
func shifted(record []byte) []byte {
	const last = 9 // after the version and the first step
	record[last+6]++
	return record
}
