package audit

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func numbers(entries []Entry) []uint64 {
	var out []uint64
	for _, e := range entries {
		out = append(out, e.Number)
	}
	return out
}

func TestTheLatestEntriesAreKept(t *testing.T) {
	log := NewLog(3)
	if got := log.After(0, 10); len(got) > 0 {
		t.Errorf("entries %v of an empty log", got)
	}
	for range 5 {
		log.Add(Entry{Owner: "o"})
	}
	for _, test := range []struct {
		name  string
		after uint64
		limit int
		want  []uint64
	}{
		{name: "all that there are", after: 0, limit: 10, want: []uint64{3, 4, 5}},
		{name: "those that are new", after: 4, limit: 10, want: []uint64{5}},
		{name: "as many as are asked for", after: 0, limit: 2, want: []uint64{3, 4}},
		{name: "none from the future", after: 9, limit: 10},
	} {
		if diff := cmp.Diff(test.want, numbers(log.After(test.after, test.limit))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestManyMayWriteAndRead(t *testing.T) {
	log := NewLog(10)
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 100 {
				log.Add(Entry{})
				log.After(0, 5)
			}
		})
	}
	group.Wait()
	if got := numbers(log.After(0, 100)); len(got) != 10 || got[9] != 400 {
		t.Errorf("kept %v", got)
	}
}
