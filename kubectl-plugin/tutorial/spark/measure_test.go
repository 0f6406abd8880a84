package spark

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTheLastCountOfTheDriverCounts(t *testing.T) {
	tests := map[string]struct {
		logs string
		want int64
	}{
		"two counts":               {"tasks 12\ntasks 15\n", 15},
		"a warning after them":     {"tasks 12\nWARN something\n", 12},
		"what is no count":         {"tasks 3\ntasks many\ntasks lost 4\n", 3},
		"none":                     {"WARN something\n", 0},
		"nothing":                  {"", 0},
		"a line that is not whole": {"tasks 12\ntasks", 12},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, lastCount(tc.logs)); diff != "" {
				t.Errorf("count (-want +got):\n%s", diff)
			}
		})
	}
}
