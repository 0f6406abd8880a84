package gang

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
)

// rest tries whatever is queued, in the order that next says, until nothing is. It returns the number of attempts, at most the
// limit.
func (c *cluster) rest(t fataler, limit int, next func(map[types.UID]bool) types.UID) int {
	for attempts := range limit {
		for uid, found := first(c.binding); found; uid, found = first(c.binding) {
			c.bind(uid)
		}
		if len(c.queue) == 0 {
			return attempts
		}
		if err := c.try(next(c.queue)); err != nil {
			t.Fatal(err)
		}
	}
	return limit
}

type fataler interface{ Fatal(args ...any) }

func lowest(queue map[types.UID]bool) types.UID {
	uid, _ := first(queue)
	return uid
}

// TestGangsThatDoNotFitComeToRest has gangs on too little room, where room that is given back wakes the refused at once: in a few
// attempts all has been tried, and as long as nothing changes nothing is tried again. When there is room, they run.
func TestGangsThatDoNotFitComeToRest(t *testing.T) {
	type size struct {
		minimum int32
		members int
	}
	tests := map[string]struct {
		gangs       map[string]size
		slots       int
		annotations []string
		wantAtMost  int
	}{
		"a gang that needs all its members":  {map[string]size{"a": {5, 5}}, 3, nil, 10},
		"a gang with members more than that": {map[string]size{"a": {4, 6}}, 2, nil, 30},
		"a gang with many more than that":    {map[string]size{"a": {3, 9}}, 2, nil, 60},
		"two gangs":                          {map[string]size{"a": {5, 5}, "b": {4, 6}}, 3, nil, 60},
		"three gangs":                        {map[string]size{"a": {3, 3}, "b": {3, 4}, "c": {3, 5}}, 2, nil, 90},
		"a group of gangs":                   {map[string]size{"a": {3, 4}, "b": {3, 3}}, 4, []string{extension.AnnotationGangGroups, groupsOfBoth}, 40},
		"a NonStrict gang":                   {map[string]size{"a": {5, 5}}, 3, []string{extension.AnnotationGangMode, "NonStrict"}, 10},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := newSimulated(test.slots)
			whole := 0
			for _, gang := range []string{"a", "b", "c"} {
				if test.gangs[gang].members == 0 {
					continue
				}
				c.setGroup(groupOfPods(gang, test.gangs[gang].minimum, test.annotations...))
				for range test.gangs[gang].members {
					c.create(gang)
					whole++
				}
			}
			attempts := c.rest(t, 1000, lowest)
			if attempts > test.wantAtMost {
				t.Errorf("%d attempts, want at most %d", attempts, test.wantAtMost)
			}
			if uid, found := first(c.binding); found || c.free < 0 {
				t.Errorf("%s is bound", uid)
			}
			c.free += whole
			c.freed()
			c.rest(t, 1000, lowest)
			for gang := range test.gangs {
				if counts := c.book.Gang(keyOf(gang)).Counts(); counts.Bound != test.gangs[gang].members {
					t.Errorf("%s with room for all: %+v", gang, counts)
				}
			}
		})
	}
}

// TestAnyHistoryComesToRest has a random history and then no more events: whatever is tried next, it ends.
func TestAnyHistoryComesToRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newSimulated(rapid.IntRange(0, 6).Draw(t, "slots"))
		for range rapid.IntRange(1, 80).Draw(t, "events") {
			if err := c.step(t); err != nil {
				t.Fatal(err)
			}
		}
		pods := len(c.pods)
		limit := 100 + 20*pods*pods
		if attempts := c.rest(t, limit, func(queue map[types.UID]bool) types.UID {
			uid, _ := draw(t, queue, "tried")
			return uid
		}); attempts == limit {
			t.Errorf("%d pods are still tried after %d attempts", pods, attempts)
		}
	})
}
