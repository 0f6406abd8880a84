package resctrlfs

import (
	"errors"
	"strings"
	"syscall"
	"testing"
)

// TestTheRules are those of the kernel's fs/resctrl: what it refuses, by which error, and how it shows what it took.
func TestTheRules(t *testing.T) {
	type step struct {
		file, value string
		want        syscall.Errno
		wantShown   string
	}
	cases := map[string]struct {
		processor Processor
		steps     []step
	}{
		"lines have to end":                   {Intel, []step{{"g/schemata", "L3:0=f", syscall.EINVAL, "7ff"}, {"g/schemata", "L3:0=f\n", 0, "L3:0=00f;1=7ff"}}},
		"masks are in a row, and not empty":   {Intel, []step{{"g/schemata", "L3:0=5\n", syscall.EINVAL, "0=7ff"}, {"g/schemata", "L3:0=0\n", syscall.EINVAL, "0=7ff"}}},
		"masks are within the cache":          {Intel, []step{{"g/schemata", "L3:0=fff\n", syscall.EINVAL, "0=7ff"}}},
		"caches are there, and once":          {Intel, []step{{"g/schemata", "L3:2=f\n", syscall.EINVAL, "1=7ff"}, {"g/schemata", "L3:0=f;0=3\n", syscall.EINVAL, "0=7ff"}}},
		"all lines or none":                   {Intel, []step{{"g/schemata", "L3:0=f\nMB:0=5\n", syscall.EINVAL, "0=7ff"}}},
		"percentages are rounded up":          {Intel, []step{{"g/schemata", "MB:0=33\n", 0, "MB:0= 40;1=100"}, {"g/schemata", "MB:0=101\n", syscall.EINVAL, "0= 40"}}},
		"AMD takes figures":                   {AMD, []step{{"g/schemata", "MB:0=33\n", 0, "MB:0=  33;1=2048"}, {"g/schemata", "MB:0=2049\n", syscall.EINVAL, "0=  33"}}},
		"resources that there are not":        {Intel, []step{{"g/schemata", "L3CODE:0=f\n", syscall.EINVAL, ""}, {"g/schemata", "L2:0=f\n", syscall.EINVAL, ""}}},
		"threads that run, and are in one":    {Intel, []step{{"g/tasks", "7", 0, "7"}, {"tasks", "7", 0, "7"}, {"g/tasks", "9", syscall.ESRCH, ""}, {"g/tasks", "x", syscall.EINVAL, ""}}},
		"what cannot be written, or is not":   {Intel, []step{{"info/L3/cbm_mask", "1", syscall.EACCES, "7ff"}, {"h/schemata", "L3:0=f\n", syscall.ENOENT, ""}}},
		"groups that are there or cannot be ": {Intel, []step{{"+g", "", syscall.EEXIST, ""}, {"+info", "", syscall.EEXIST, ""}, {"+g/h", "", syscall.EPERM, ""}, {"-info", "", syscall.EPERM, ""}, {"-h", "", syscall.ENOENT, ""}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tree := New(tc.processor)
			tree.Start(7)
			if err := tree.Make("g"); err != nil {
				t.Fatal(err)
			}
			for i, s := range tc.steps {
				var err error
				if made, is := strings.CutPrefix(s.file, "+"); is {
					err = tree.Make(made)
				} else if removed, is := strings.CutPrefix(s.file, "-"); is {
					err = tree.Remove(removed)
				} else {
					err = tree.Write(s.file, s.value)
				}
				if s.want == 0 && err != nil || s.want != 0 && !errors.Is(err, s.want) {
					t.Errorf("step %d: %v, want %v", i, err, s.want)
				}
				if s.wantShown == "" {
					continue
				}
				if shown, err := tree.Read(s.file, nil); err != nil || !strings.Contains(string(shown), s.wantShown) {
					t.Errorf("step %d: shows %q, %v, want %q", i, shown, err, s.wantShown)
				}
			}
		})
	}
	few := New(Processor{Ways: 4, Caches: 1, Groups: 2})
	if err := errors.Join(few.Make("a")); err != nil {
		t.Fatal(err)
	}
	if err := few.Make("b"); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a third group: %v, want ENOSPC", err)
	}
}
