package extension

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

func TestParseProdOvercommitFactor(t *testing.T) {
	tests := map[string]struct {
		want    map[corev1.ResourceName]Ratio
		wantErr string
	}{
		`1.5`:                      {want: map[corev1.ResourceName]Ratio{"cpu": 1.5, "memory": 1.5}},
		`{"cpu":2,"memory":1}`:     {want: map[corev1.ResourceName]Ratio{"cpu": 2, "memory": 1}},
		`{"cpu":100}`:              {want: map[corev1.ResourceName]Ratio{"cpu": 100}},
		`0.99`:                     {wantErr: "not between 1 and 100"},
		`101`:                      {wantErr: "not between 1 and 100"},
		`NaN`:                      {wantErr: "not between 1 and 100"},
		`Inf`:                      {wantErr: "not between 1 and 100"},
		`{"cpu":2}{"memory":2}`:    {wantErr: "neither a factor"},
		`{"cpu":"two"}`:            {wantErr: "neither a factor"},
		`{"example.com/widget":2}`: {wantErr: "neither cpu nor memory"},
		``:                         {wantErr: "neither a factor"},
	}
	for text, test := range tests {
		t.Run(text, func(t *testing.T) {
			got, err := ParseProdOvercommitFactor(text)
			if (err == nil) != (test.wantErr == "") || err != nil && !strings.Contains(err.Error(), test.wantErr) {
				t.Fatalf("error %v, want %q", err, test.wantErr)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("factors (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzParseProdOvercommitFactor(f *testing.F) {
	for _, seed := range []string{"1.5", `{"cpu":2}`, "null", "0x1p4", "1e400", `{"cpu":null}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		factors, err := ParseProdOvercommitFactor(text)
		if err != nil {
			return
		}
		for name, factor := range factors {
			if name != corev1.ResourceCPU && name != corev1.ResourceMemory || !(factor >= 1 && factor <= 100) {
				t.Errorf("%q gives %s %v", text, name, factor)
			}
		}
	})
}
