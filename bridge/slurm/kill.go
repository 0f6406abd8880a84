package slurm

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/klog/v2"

	"koordinator.sh/koord/bridge/engine"
	"koordinator.sh/koord/decision/noderesource/thirdparty"
)

// Kill ends jobs on a node: those that can be are put back into the queue, others are cancelled. Jobs that are ending already count.
func (e *Engine) Kill(ctx context.Context, key string, over engine.Amount) (ended []string, err error) {
	if !e.known[key] {
		return nil, nil
	}
	output, err := e.commands.run(ctx, "squeue", "--noheader", "--all", "--nodelist="+key, "--states=RUNNING,SUSPENDED,COMPLETING", "--format="+jobFormat)
	if err != nil {
		return nil, err
	}
	jobs, ending, err := parseJobs(output, e.unit)
	if err != nil {
		return nil, err
	}
	leaving := times(e.unit, ending)
	over = engine.Amount{MilliCPU: max(over.MilliCPU-leaving.MilliCPU, 0), Memory: max(over.Memory-leaving.Memory, 0)}
	var errs []error
	for _, job := range thirdparty.Victims(jobs, over) {
		what, err := e.end(ctx, job.ID, key)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		ended = append(ended, what)
	}
	return ended, errors.Join(errs...)
}

// end puts a job back into the queue, or cancels it where it cannot be, and leaves a comment that says why. Slurm sets the comment, and reports
// an error when the job is larger than its partition allows now, which it is.
func (e *Engine) end(ctx context.Context, id, node string) (string, error) {
	comment := fmt.Sprintf("AdminComment=ended by koord-bridge: node %s has fewer batch resources than its jobs use", node)
	if _, err := e.commands.run(ctx, "scontrol", "update", "JobId="+id, comment); err != nil {
		klog.FromContext(ctx).V(2).Info("Failed to write the comment of a job", "job", id, "err", err)
	}
	if _, err := e.commands.run(ctx, "scontrol", "requeue", id); err == nil {
		return fmt.Sprintf("job %s (requeued)", id), nil
	}
	if _, err := e.commands.run(ctx, "scancel", id); err != nil {
		return "", err
	}
	return fmt.Sprintf("job %s (cancelled)", id), nil
}
