package resctrl

import (
	"fmt"
	"math/bits"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/extension"
	slov1alpha1 "koordinator.sh/koord/api/slo/v1alpha1"
)

func TestCacheMask(t *testing.T) {
	tests := map[string]struct {
		all        uint64
		start, end int64
		least      int
		want       string
	}{
		"30 of 100 percent of 11 ways are 4":        {0x7ff, 0, 30, 1, "f"},
		"all of them":                               {0x7ff, 0, 100, 1, "7ff"},
		"the other 70 percent":                      {0x7ff, 30, 100, 1, "7f0"},
		"a range within one way grows upwards":      {0x7ff, 1, 2, 1, "2"},
		"at the end it grows downwards":             {0x7ff, 99, 100, 1, "400"},
		"at least two ways":                         {0x7ff, 99, 100, 2, "600"},
		"20 ways":                                   {0xfffff, 0, 50, 1, "3ff"},
		"64 ways":                                   {^uint64(0), 0, 100, 1, "ffffffffffffffff"},
		"half of 64":                                {^uint64(0), 50, 100, 1, "ffffffff00000000"},
		"no more are needed than there are":         {0x1, 0, 10, 4, "1"},
		"a negative least counts as one":            {0x7ff, 1, 2, -3, "2"},
		"an empty range is refused":                 {0x7ff, 30, 30, 1, "error"},
		"a range that descends is refused":          {0x7ff, 50, 30, 1, "error"},
		"a range beyond everything is refused":      {0x7ff, 0, 101, 1, "error"},
		"a range before everything is refused":      {0x7ff, -1, 10, 1, "error"},
		"a cache without ways is refused":           {0, 0, 100, 1, "error"},
		"ways that are not contiguous are refused ": {0x5, 0, 100, 1, "error"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := CacheMask(tc.all, tc.start, tc.end, tc.least)
			text := fmt.Sprintf("%x", got)
			if err != nil {
				text = "error"
			}
			if text != tc.want {
				t.Errorf("%s (%v), want %s", text, err, tc.want)
			}
		})
	}
}

// TestMasksAreWhatTheKernelAccepts: contiguous, within the cache, with at least the ways it demands; and a wider range never
// has fewer ways.
func TestMasksAreWhatTheKernelAccepts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := lowest(rapid.Int64Range(1, 64).Draw(t, "ways"))
		start := rapid.Int64Range(0, 99).Draw(t, "start")
		end := rapid.Int64Range(start+1, 100).Draw(t, "end")
		least := rapid.IntRange(0, 4).Draw(t, "least")
		mask, err := CacheMask(all, start, end, least)
		if err != nil {
			t.Fatal(err)
		}
		down := mask >> bits.TrailingZeros64(mask)
		if mask == 0 || mask&^all != 0 || down&(down+1) != 0 || bits.OnesCount64(mask) < min(least, bits.OnesCount64(all)) {
			t.Fatalf("%x of %x", mask, all)
		}
		wider, err := CacheMask(all, start, 100, least)
		if err != nil || bits.OnesCount64(wider) < bits.OnesCount64(mask) {
			t.Fatalf("%d to 100 has %x, %d to %d has %x (%v)", start, wider, start, end, mask, err)
		}
	})
}

func TestBandwidth(t *testing.T) {
	tests := map[string]struct {
		vendor  Vendor
		percent int64
		want    int64
	}{
		"Intel rounds up":             {Intel, 81, 90},
		"Intel in steps":              {Intel, 90, 90},
		"Intel gives at least a step": {Intel, 1, 10},
		"Intel, everything":           {Intel, 100, 100},
		"AMD, everything":             {AMD, 100, 2048},
		"AMD, half":                   {AMD, 50, 80},
		"AMD gives at least one":      {AMD, 1, 1},
		"nobody knows the vendor":     {"HygonGenuine", 50, 0},
		"no vendor":                   {"", 50, 0},
		"nothing":                     {Intel, 0, 0},
		"more than everything":        {AMD, 101, 0},
	}
	for name, tc := range tests {
		got, err := Bandwidth(tc.vendor, tc.percent)
		if got != tc.want || (err != nil) != (tc.want == 0) {
			t.Errorf("%s: %d %v, want %d", name, got, err, tc.want)
		}
	}
}

func TestSchemata(t *testing.T) {
	machine := Machine{Vendor: Intel, Mask: 0x7ff, Bandwidth: true, Caches: []int{0, 1}}
	unknown := machine
	unknown.Vendor = "somebody"
	class := func(enable bool, start, end, bandwidth int64) *slov1alpha1.ResctrlQOSCfg {
		return &slov1alpha1.ResctrlQOSCfg{Enable: &enable, ResctrlQOS: slov1alpha1.ResctrlQOS{CATRangeStartPercent: &start, CATRangeEndPercent: &end, MBAPercent: &bandwidth}}
	}
	pod := func(json string) extension.ResctrlConfig {
		config, err := extension.GetResctrl(map[string]string{extension.AnnotationResctrl: json})
		if err != nil {
			t.Fatal(err)
		}
		return *config
	}
	tests := map[string]struct {
		got          Schemata
		want         []string
		wantProblems int
	}{
		"a class":                               {OfClass(machine, class(true, 0, 30, 45)), []string{"L3:0=f;1=f", "MB:0=50;1=50"}, 0},
		"a class that is off":                   {OfClass(machine, class(false, 0, 30, 45)), []string{"L3:0=7ff;1=7ff", "MB:0=100;1=100"}, 0},
		"a class without settings":              {OfClass(machine, nil), []string{"L3:0=7ff;1=7ff", "MB:0=100;1=100"}, 0},
		"an impossible range":                   {OfClass(machine, class(true, 50, 30, 45)), []string{"MB:0=50;1=50"}, 1},
		"an unknown vendor keeps its cache":     {OfClass(unknown, class(true, 0, 30, 45)), []string{"L3:0=f;1=f"}, 1},
		"a cache that cannot be divided":        {OfClass(Machine{Vendor: Intel, Bandwidth: true, Caches: []int{0}}, class(true, 0, 30, 45)), []string{"MB:0=50"}, 0},
		"nothing can be divided":                {OfClass(Machine{}, class(true, 0, 30, 45)), nil, 0},
		"a pod":                                 {OfPod(machine, pod(`{"llc":{"schemata":{"range":[0,30]}},"mb":{"schemata":{"percent":20}}}`)), []string{"L3:0=f;1=f", "MB:0=20;1=20"}, 0},
		"a pod with another share of one cache": {OfPod(machine, pod(`{"llc":{"schemata":{"range":[0,30]},"schemataPerCache":[{"cacheID":1,"range":[0,100]}]}}`)), []string{"L3:0=f;1=7ff"}, 0},
		"a share of one cache alone":            {OfPod(machine, pod(`{"mb":{"schemataPerCache":[{"cacheID":1,"percent":20}]}}`)), []string{"MB:1=20"}, 0},
		"a cache that does not exist":           {OfPod(machine, pod(`{"mb":{"schemataPerCache":[{"cacheID":7,"percent":20}]}}`)), nil, 1},
		"a range with one end":                  {OfPod(machine, pod(`{"llc":{"schemata":{"range":[30]}}}`)), nil, 1},
		"a pod that says nothing":               {OfPod(machine, extension.ResctrlConfig{}), nil, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.got.Lines()); diff != "" || len(tc.got.Problems) != tc.wantProblems {
				t.Errorf("problems %q, lines (-want +got):\n%s", tc.got.Problems, diff)
			}
		})
	}
}

func TestGroupOf(t *testing.T) {
	for class, want := range map[extension.QoSClass]string{
		extension.QoSLSE: "LSR", extension.QoSLSR: "LSR", extension.QoSLS: "LS", extension.QoSBE: "BE", extension.QoSSystem: "", extension.QoSNone: "",
	} {
		if got := GroupOf(class, "u", false); got != want {
			t.Errorf("class %q is in %q, want %q", class, got, want)
		}
	}
	if got := GroupOf(extension.QoSBE, "u", true); got != "koordlet-u" {
		t.Errorf("a pod with shares of its own is in %q", got)
	}
}

func FuzzParseMask(f *testing.F) {
	for _, seed := range []string{"7ff", "0xfffff\n", "0", "5", "", "ffffffffffffffffff", "-1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		mask, err := ParseMask(text)
		if err != nil {
			if mask != 0 {
				t.Errorf("%q is %x and an error", text, mask)
			}
			return
		}
		if again, err := ParseMask(fmt.Sprintf("%x", mask)); err != nil || again != mask || mask&(mask+1) != 0 {
			t.Errorf("%q is %x, then %x %v", text, mask, again, err)
		}
	})
}

func TestParseMask(t *testing.T) {
	for text, want := range map[string]uint64{"7ff": 0x7ff, "0x7ff\n": 0x7ff, "ffffffffffffffff": ^uint64(0), "7f0": 0, "": 0, "0": 0, "0x": 0, "xyz": 0} {
		if got, err := ParseMask(text); got != want || (err != nil) != (want == 0) {
			t.Errorf("%q is %x %v, want %x", text, got, err, want)
		}
	}
}
