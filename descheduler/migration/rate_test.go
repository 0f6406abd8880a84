package migration

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"koordinator.sh/koord/decision/descheduling/migration"
)

func TestTheRateOfEvictionsFollowsTheArguments(t *testing.T) {
	slow, fast := migration.DefaultArgs(), migration.DefaultArgs()
	slow.EvictQPS, slow.EvictBurst = new(resource.MustParse("15625u")), 2
	fast.EvictQPS = new(resource.MustParse("31250u"))
	rate := &evictionRate{}
	for i, step := range []struct {
		args *migration.Args
		want time.Duration
	}{
		{args: slow}, {args: slow}, {args: slow, want: 64 * time.Second}, // the burst is used up
		{args: fast}, {args: fast, want: 32 * time.Second},
		{args: slow}, // a rate that changed begins anew
	} {
		if got := rate.take(step.args); got != step.want {
			t.Errorf("step %d: wait %s, want %s", i, got, step.want)
		}
	}
}
