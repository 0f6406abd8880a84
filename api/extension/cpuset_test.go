package extension

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestParseCPUList(t *testing.T) {
	tests := map[string]struct {
		list    string
		want    []int
		wantErr string
	}{
		"empty":          {},
		"blank":          {list: " \n"},
		"one":            {list: "3", want: []int{3}},
		"a range":        {list: "0-3", want: []int{0, 1, 2, 3}},
		"mixed":          {list: "8,0-1, 10-11", want: []int{0, 1, 8, 10, 11}},
		"overlap":        {list: "0-2,1-3,2", want: []int{0, 1, 2, 3}},
		"descending":     {list: "3-0", wantErr: "descends"},
		"huge range":     {list: "0-999999999", wantErr: "above 8191"},
		"negative":       {list: "-1", wantErr: "not a cpu id"},
		"trailing comma": {list: "1,", wantErr: "not a cpu id"},
		"unicode digits": {list: "٣", wantErr: "not a cpu id"},
		"overflow":       {list: "99999999999999999999", wantErr: "not a cpu id"},
		"a megabyte":     {list: strings.Repeat("1,", 1<<19), wantErr: "1048576 bytes"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseCPUList(tc.list)
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Fatalf("error %v, want one with %q", err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("unexpected cpus (-want,+got):\n%s", diff)
			}
		})
	}
}

func TestCPUListFormatAndParseAreInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cpus := rapid.SliceOf(rapid.IntRange(0, MaxCPUID)).Draw(t, "cpus")
		formatted := FormatCPUList(cpus)
		got, err := ParseCPUList(formatted)
		if err != nil {
			t.Fatal(err)
		}
		if want := slices.Compact(slices.Sorted(slices.Values(cpus))); !slices.Equal(want, got) {
			t.Fatalf("%q parses to %v, want %v", formatted, got, want)
		}
	})
}

func FuzzParseCPUList(f *testing.F) {
	for _, seed := range []string{"", "0-3,8", "0-999999999", "1,,2", "a-b", "٣-٤", "5-3", "8191"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, list string) {
		cpus, err := ParseCPUList(list)
		if err != nil {
			return
		}
		if !slices.IsSorted(cpus) || (len(cpus) > 0 && cpus[len(cpus)-1] > MaxCPUID) {
			t.Fatalf("%q parses to %v", list, cpus)
		}
		again, err := ParseCPUList(FormatCPUList(cpus))
		if err != nil || !slices.Equal(cpus, again) {
			t.Fatalf("%q: %v became %v, %v", list, cpus, again, err)
		}
	})
}
