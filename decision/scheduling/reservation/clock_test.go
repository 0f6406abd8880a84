package reservation

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestAClockThatIsSet looks at a Reservation with a life of an hour, half of which has passed, by a clock that jumps.
func TestAClockThatIsSet(t *testing.T) {
	const life, collect = time.Hour, 24 * time.Hour
	object := newObject("r", "cpu", "4")
	object.Spec.TTL = &metav1.Duration{Duration: life}
	object.CreationTimestamp = metav1.NewTime(now.Add(-life / 2))
	look := func(at time.Time) Step { return Next(Life{Object: object, Now: at, Collect: collect}) }

	for name, test := range map[string]struct {
		jump      time.Duration
		wantAfter time.Duration
		wantPhase string
	}{
		"as it is":                                        {wantAfter: life / 2},
		"set back, it lives on by the clock":              {jump: -time.Hour, wantAfter: life/2 + time.Hour},
		"set back to before it was created":               {jump: -24 * time.Hour, wantAfter: life/2 + 24*time.Hour},
		"set forward, but not to the end":                 {jump: life/2 - time.Second, wantAfter: time.Second},
		"set forward to the end, it ends by what it says": {jump: life / 2, wantPhase: "Failed", wantAfter: collect},
	} {
		t.Run(name, func(t *testing.T) {
			step := look(now.Add(test.jump))
			if step.Delete || step.After != test.wantAfter {
				t.Errorf("delete %v, after %s, want %s", step.Delete, step.After, test.wantAfter)
			}
			phase := ""
			if step.Status != nil {
				phase = string(step.Status.Phase)
			}
			if phase != test.wantPhase {
				t.Errorf("phase %q, want %q", phase, test.wantPhase)
			}
		})
	}

	// What ended stays ended when the clock is set right, and is kept for no shorter than it should be.
	object.Status = *look(now.Add(time.Hour)).Status
	if step := look(now); step.Status != nil || step.Delete || step.After != collect+time.Hour {
		t.Errorf("once ended, by the right clock: %+v, want it kept for %s", step, collect+time.Hour)
	}
}
