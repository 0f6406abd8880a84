package coresched

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAssign(t *testing.T) {
	group := func(id string) Group { return Group{Cookie: true, ID: id} }
	tests := map[string]struct {
		known   map[string]uint64
		members []Member
		want    Assignment
	}{
		"nobody has a cookie yet": {
			nil, []Member{{group("a"), []Thread{{1, 0}, {2, 0}}}},
			Assignment{Cookies: map[string]uint64{}, Changes: []Change{{1, 0, true, "a"}, {2, 0, true, "a"}}},
		},
		"a new thread gets that of its group": {
			map[string]uint64{"a": 7}, []Member{{group("a"), []Thread{{1, 7}, {2, 0}}}},
			Assignment{Cookies: map[string]uint64{"a": 7}, Changes: []Change{{2, 0, true, "a"}}},
		},
		"all is well": {
			map[string]uint64{"a": 7, "b": 8}, []Member{{group("a"), []Thread{{1, 7}}}, {group("b"), []Thread{{2, 8}}}, {Group{}, []Thread{{3, 0}}}},
			Assignment{Cookies: map[string]uint64{"a": 7, "b": 8}},
		},
		"a pod that changes its group": {
			map[string]uint64{"a": 7, "b": 8}, []Member{{group("b"), []Thread{{1, 7}}}, {group("b"), []Thread{{2, 8}}}},
			Assignment{Cookies: map[string]uint64{"a": 7, "b": 8}, Changes: []Change{{1, 0, true, "b"}}},
		},
		"a pod that is to have none": {
			map[string]uint64{"a": 7}, []Member{{Group{}, []Thread{{1, 7}, {2, 0}}}},
			Assignment{Cookies: map[string]uint64{"a": 7}, Changes: []Change{{1, 0, false, ""}}},
		},
		"a cookie that the thread gave itself": {
			map[string]uint64{"a": 7}, []Member{{group("a"), []Thread{{1, 7}, {2, 9}}}, {Group{}, []Thread{{3, 10}}}},
			Assignment{Cookies: map[string]uint64{"a": 7}, Own: []int{2, 3}},
		},
		"a cookie that nobody has any more is forgotten": {
			map[string]uint64{"a": 7}, []Member{{group("b"), []Thread{{1, 0}}}},
			Assignment{Cookies: map[string]uint64{}, Changes: []Change{{1, 0, true, "b"}}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, Assign(tc.known, tc.members)); diff != "" {
				t.Errorf("assignment (-want +got):\n%s", diff)
			}
		})
	}
}
