package recommend

import (
	"fmt"
	"math"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	analysisv1alpha1 "koordinator.sh/koord/api/analysis/v1alpha1"
	"koordinator.sh/koord/decision/core/histogram"
)

// Checkpoint is everything that was learned, to be kept outside of the process.
func (c *Container) Checkpoint(name string) (analysisv1alpha1.ContainerCheckpoint, error) {
	cpu, err := c.CPU.MarshalBinary()
	if err != nil {
		return analysisv1alpha1.ContainerCheckpoint{}, fmt.Errorf("encode cpu usage of container %q: %w", name, err)
	}
	memory, err := c.Memory.MarshalBinary()
	if err != nil {
		return analysisv1alpha1.ContainerCheckpoint{}, fmt.Errorf("encode memory usage of container %q: %w", name, err)
	}
	out := analysisv1alpha1.ContainerCheckpoint{
		ContainerName: name, CPU: cpu, Memory: memory, ObservedMinutes: int64(min(c.Minutes, math.MaxInt64/2)),
		OOMMemory: whole(c.OOMBytes),
	}
	if !c.First.IsZero() {
		out.FirstSampleTime, out.LastSampleTime = &metav1.Time{Time: c.First}, &metav1.Time{Time: c.Last}
	}
	if !c.OOM.IsZero() {
		out.LastOOMTime = &metav1.Time{Time: c.OOM}
	}
	if job := c.Job; job != nil {
		bounds := func(b Bounds) analysisv1alpha1.JobBounds {
			return analysisv1alpha1.JobBounds{Lower: b.Lower, Target: b.Target, Upper: b.Upper}
		}
		out.Job = &analysisv1alpha1.JobCheckpoint{Runs: job.Runs, Basis: job.Basis, CPU: bounds(job.CPU), Memory: bounds(job.Memory)}
	}
	return out, nil
}

// Restore goes on from a checkpoint. One that cannot be read, or whose figures are no amounts, is an error.
func Restore(checkpoint analysisv1alpha1.ContainerCheckpoint) (*Container, error) {
	cpu, err := histogram.Decode(checkpoint.CPU, histogram.CPU(), HalfLife)
	if err != nil {
		return nil, fmt.Errorf("restore cpu usage of container %q: %w", checkpoint.ContainerName, err)
	}
	memory, err := histogram.Decode(checkpoint.Memory, histogram.Memory(), HalfLife)
	if err != nil {
		return nil, fmt.Errorf("restore memory usage of container %q: %w", checkpoint.ContainerName, err)
	}
	if checkpoint.ObservedMinutes < 0 || checkpoint.OOMMemory < 0 {
		return nil, fmt.Errorf("restore container %q: %d observed minutes and %d bytes after running out of memory must not be negative",
			checkpoint.ContainerName, checkpoint.ObservedMinutes, checkpoint.OOMMemory)
	}
	out := &Container{CPU: cpu, Memory: memory, Minutes: float64(checkpoint.ObservedMinutes), OOMBytes: float64(checkpoint.OOMMemory)}
	if first, last := checkpoint.FirstSampleTime, checkpoint.LastSampleTime; first != nil && last != nil {
		out.First, out.Last = first.Time, last.Time
	}
	if checkpoint.LastOOMTime != nil {
		out.OOM = checkpoint.LastOOMTime.Time
	}
	if out.Job, err = restoreJob(checkpoint.Job); err != nil {
		return nil, fmt.Errorf("restore container %q: %w", checkpoint.ContainerName, err)
	}
	return out, nil
}

func restoreJob(checkpoint *analysisv1alpha1.JobCheckpoint) (*Job, error) {
	if checkpoint == nil {
		return nil, nil
	}
	bounds := func(b analysisv1alpha1.JobBounds) Bounds {
		return Bounds{Lower: b.Lower, Target: b.Target, Upper: b.Upper}
	}
	out := &Job{Runs: checkpoint.Runs, Basis: checkpoint.Basis, CPU: bounds(checkpoint.CPU), Memory: bounds(checkpoint.Memory)}
	for _, b := range []Bounds{out.CPU, out.Memory} {
		if b.Lower < 0 || b.Lower > b.Target || b.Target > b.Upper || out.Runs < 0 {
			return nil, fmt.Errorf("bounds %+v of a job with %d runs are not in order", b, out.Runs)
		}
	}
	return out, nil
}
