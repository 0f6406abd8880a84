package audit

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPagesGoBackToWhatIsKept(t *testing.T) {
	log := NewLog(5)
	if got := log.Latest(0, 10); got != nil || log.Oldest() != 0 || log.Last() != 0 {
		t.Errorf("an empty log has %v, oldest %d, last %d", got, log.Oldest(), log.Last())
	}
	for range 8 {
		log.Add(Entry{})
	}
	tests := map[string]struct {
		below uint64
		limit int
		want  []uint64
	}{
		"the newest":                      {0, 2, []uint64{8, 7}},
		"the page after":                  {7, 2, []uint64{6, 5}},
		"the last page is short":          {5, 2, []uint64{4}},
		"below all that are kept":         {4, 2, nil},
		"long pushed out":                 {1, 2, nil},
		"above all":                       {99, 1, []uint64{8}},
		"all":                             {0, 99, []uint64{8, 7, 6, 5, 4}},
		"a limit of nothing":              {0, 0, nil},
		"the largest number is above all": {^uint64(0), 1, []uint64{8}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, numbers(log.Latest(tc.below, tc.limit))); diff != "" {
				t.Errorf("unexpected page (-want +got):\n%s", diff)
			}
		})
	}
	if log.Oldest() != 4 || log.Last() != 8 {
		t.Errorf("oldest %d and last %d, want 4 and 8", log.Oldest(), log.Last())
	}
}

func TestAnEntryWakesThoseWhoWait(t *testing.T) {
	log := NewLog(2)
	first, second := log.Changed(), log.Changed()
	select {
	case <-first:
		t.Fatal("woken without an entry")
	default:
	}
	log.Add(Entry{})
	<-first
	<-second
	select {
	case <-log.Changed():
		t.Error("the next entry has not come")
	default:
	}
}
