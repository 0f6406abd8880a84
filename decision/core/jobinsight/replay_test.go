package jobinsight

import (
	"testing"
	"time"
)

// TestReplayLooksAtThePastOnly: what ends later is not known when a job starts.
func TestReplayLooksAtThePastOnly(t *testing.T) {
	var jobs []Job
	for i := range 40 {
		job := Job{Run: ended(daily, 0, Completed, 1, time.Hour), Started: noon.Add(time.Duration(i) * time.Hour)}
		job.Ended = job.Started.Add(100 * time.Hour)
		job.Requested = Observed(4*gib, 2, 0)
		jobs = append(jobs, job)
	}
	got := Replay(jobs, ReplayOptions{WarmUp: time.Hour})
	if got.Jobs != 40 || got.HeldOut != 39 || got.Metrics[Memory].Judged != 0 || got.Metrics[Memory].Unknown != 39 || got.Metrics[Memory].Savings != 0 {
		t.Errorf("%+v, want nothing predicted before the first job ended", got)
	}
}

func TestReplayCountsWhatRequestsCouldSave(t *testing.T) {
	var jobs []Job
	for i := range 100 {
		job := Job{Run: ended(daily, 0, Completed, 1, time.Minute), Started: noon.Add(time.Duration(i) * time.Hour)}
		job.Ended = job.Started.Add(time.Minute)
		job.Requested = Observed(4*gib, 0, 0)
		if i == 90 {
			job.Outcome = Failed
		}
		if i == 95 {
			job.Values[Memory] = 3 * gib
		}
		jobs = append(jobs, job)
	}
	got := Replay(jobs, ReplayOptions{WarmUp: 50 * time.Hour})
	memory := got.Metrics[Memory]
	if got.HeldOut != 50 || got.Early != 1 || memory.Judged != 49 || memory.Above != 1 || memory.TooSmall != 1 || memory.Sized != 49 {
		t.Errorf("%+v, want 49 judged and one of them exceeded", memory)
	}
	if memory.Savings < 0.6 || memory.Savings > 0.75 || memory.OracleSavings < 0.73 || memory.OracleSavings > 0.75 {
		t.Errorf("savings of %.3f of %.3f, want most of three quarters", memory.Savings, memory.OracleSavings)
	}
	if cpu := got.Metrics[CPU]; cpu.Sized != 0 || cpu.Savings != 0 {
		t.Errorf("%+v saved without requests", cpu)
	}
	if len(got.Kinds) != 1 || got.Kinds[0].Runs != 49 {
		t.Errorf("kinds are %+v", got.Kinds)
	}
}
