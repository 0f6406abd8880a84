package migration

import (
	"testing"
	"time"

	testingclock "k8s.io/utils/clock/testing"
)

func TestAClockThatIsBehindAJobStartsAtTheJob(t *testing.T) {
	created := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	fake := testingclock.NewFakePassiveClock(created.AddDate(-1, 0, 0))
	clocks := newClocks(fake)
	if got := clocks.now("job", created); !got.Equal(created) {
		t.Errorf("at first %s, want %s", got, created)
	}
	fake.SetTime(fake.Now().Add(time.Minute))
	if got, want := clocks.now("job", created), created.Add(time.Minute); !got.Equal(want) {
		t.Errorf("a minute later %s, want %s: the ttl of the job must run", got, want)
	}
	clocks.forget("job")
	if got, want := clocks.now("job", created.Add(time.Minute)), created.Add(time.Minute); !got.Equal(want) {
		t.Errorf("after a restart %s, want what the job recorded, %s", got, want)
	}
	later := created.Add(time.Hour)
	fake.SetTime(later)
	if got := clocks.now("other", created); !got.Equal(later) {
		t.Errorf("with a clock that is right %s, want %s", got, later)
	}
}
