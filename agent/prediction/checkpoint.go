package prediction

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"koordinator.sh/koord/decision/core/histogram"
	"koordinator.sh/koord/decision/core/predict"
)

const (
	// CheckpointInterval is the time between two checkpoints.
	CheckpointInterval = 10 * time.Minute
	// maxPods bounds the models in a checkpoint; those that were trained longest ago are left out.
	maxPods = 1024
	// classExpiry is the age from which a checkpoint says nothing of classes any more: the half-life of memory.
	classExpiry = 24 * time.Hour
	// maxSkew is how far in the future a checkpoint may be, because clocks are set.
	maxSkew = 5 * time.Minute
)

// Checkpoint is all that was learned, at a moment.
type Checkpoint struct {
	At time.Time `json:"at"`
	// Prod, None and System are the models of sums.
	Prod   ModelCheckpoint `json:"prod"`
	None   ModelCheckpoint `json:"none"`
	System ModelCheckpoint `json:"system"`
	// Pods by UID.
	Pods map[types.UID]PodCheckpoint `json:"pods,omitempty"`
}

// ModelCheckpoint is the two histograms of a model, as they encode themselves.
type ModelCheckpoint struct {
	CPU    []byte `json:"cpu"`
	Memory []byte `json:"memory"`
}

// PodCheckpoint is the model of a pod, and when it was trained.
type PodCheckpoint struct {
	ModelCheckpoint
	Trained time.Time `json:"trained"`
}

// Checkpoint copies what was learned until a moment.
func (n *Node) Checkpoint(at time.Time) Checkpoint {
	out := Checkpoint{At: at, Prod: n.prod.checkpoint(), None: n.none.checkpoint(), System: n.system.checkpoint(), Pods: map[types.UID]PodCheckpoint{}}
	uids := slices.SortedFunc(maps.Keys(n.pods), func(a, b types.UID) int {
		return cmp.Or(n.pods[b].trained.Compare(n.pods[a].trained), cmp.Compare(a, b))
	})
	for _, uid := range uids[:min(len(uids), maxPods)] {
		out.Pods[uid] = PodCheckpoint{ModelCheckpoint: n.pods[uid].checkpoint(), Trained: n.pods[uid].trained}
	}
	return out
}

func (m *model) checkpoint() ModelCheckpoint {
	cpu, _ := m.cpu.MarshalBinary() // it never fails
	memory, _ := m.memory.MarshalBinary()
	return ModelCheckpoint{CPU: cpu, Memory: memory}
}

// Restore takes over what was learned before. Models of pods that were not trained for half an hour are forgotten, as they would
// have been; those of classes after a day. A checkpoint of the future is refused, and what of one cannot be decoded is left out
// and named in the error.
func (n *Node) Restore(from Checkpoint, now time.Time) error {
	age := now.Sub(from.At)
	if age < -maxSkew {
		return fmt.Errorf("restore the prediction checkpoint: it is %s in the future", -age)
	}
	if age > classExpiry {
		return nil
	}
	var problems []error
	for _, class := range []struct {
		name string
		from ModelCheckpoint
		to   *model
	}{{"prod", from.Prod, &n.prod}, {"none", from.None, &n.none}, {"system", from.System, &n.system}} {
		restored, err := class.from.model()
		if err != nil {
			problems = append(problems, fmt.Errorf("restore the prediction of class %s: %w", class.name, err))
			continue
		}
		*class.to = restored
	}
	for uid, pod := range from.Pods {
		if now.Sub(pod.Trained) > modelExpiry || pod.Trained.Sub(now) > maxSkew || len(n.pods) >= maxPods {
			continue
		}
		restored, err := pod.model()
		if err != nil {
			problems = append(problems, fmt.Errorf("restore the prediction of pod %.64q: %w", uid, err))
			continue
		}
		n.pods[uid] = &podModel{model: restored, trained: pod.Trained}
	}
	return errors.Join(problems...)
}

func (c ModelCheckpoint) model() (model, error) {
	cpu, err := decode(c.CPU, predict.KoordinatorCPU)
	memory, problem := decode(c.Memory, predict.KoordinatorMemory)
	if err := errors.Join(err, problem); err != nil {
		return model{}, err
	}
	return model{cpu: *cpu, memory: *memory}, nil
}

func decode(data []byte, rule predict.HistogramRule) (*histogram.Histogram, error) {
	return histogram.Decode(data, rule.Buckets, rule.HalfLife)
}
