package trace

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"koordinator.sh/koord/api/finding"
)

func TestParseErrorsNameTheLine(t *testing.T) {
	tests := map[string]struct {
		csv  string
		room int
		want string
	}{
		"an empty file":                  {csv: "", want: "line 1: the file is empty"},
		"a header of something else":     {csv: "sn,cpu_milli,memory_mib\n", want: "line 1: the header \"sn,cpu_milli,memory_mib\" is neither"},
		"a long header is cut":           {csv: strings.Repeat("x", 1000) + "\n", want: "line 1: the header \"" + strings.Repeat("x", 60) + "\" is neither"},
		"no rows":                        {csv: "ts,value\n", want: "line 1: a recording needs two rows"},
		"one row":                        {csv: "ts,value\n60,1\n", want: "line 2: a recording needs two rows"},
		"a timestamp that is no number":  {csv: "ts,value\nnow,1\n", want: "line 2: timestamp \"now\" is not"},
		"a negative timestamp":           {csv: "ts,value\n-60,1\n", want: "line 2: timestamp \"-60\" is not"},
		"timestamps that stand still":    {csv: "ts,value\n60,1\n60,2\n", want: "line 3: timestamp 60 is not after 60"},
		"a value that is not a number":   {csv: "ts,value\n60,1\n120,NaN\n", want: "line 3: value \"NaN\" is not a number"},
		"an infinite value":              {csv: "ts,value\n60,1\n120,+Inf\n", want: "line 3: value \"+Inf\" is not a number"},
		"a negative value":               {csv: "ts,value\n60,1\n120,-0.5\n", want: "line 3: value \"-0.5\" is not a number"},
		"an empty value":                 {csv: "ts,value\n60,\n", want: "line 2: value \"\" is not a number"},
		"a column too many":              {csv: "ts,value\n60,1,2\n", want: "line 2: wrong number of fields"},
		"a quote that does not end":      {csv: "ts,value\n60,\"1\n", want: "line 2"},
		"a gap larger than the room":     {csv: "ts,value\n1,1\n2,1\n3,1\n99999999999,1\n", want: "line 5: 99999999998 seconds in steps of 1"},
		"a table without rows":           {csv: "interval,vm0\n", want: "line 1: a recording needs two rows"},
		"a table with a missing row":     {csv: "interval,vm0\n0,1\n2,1\n", want: "line 3: interval \"2\", want 1"},
		"a table with a negative value":  {csv: "interval,vm0,vm1\n0,1,-1\n", want: "line 2: column \"vm1\": value \"-1\""},
		"a table with an absurd percent": {csv: "interval,vm0\n0,1001\n", want: "line 2: column \"vm0\": value \"1001\" is not a number from 0 to 1000"},
		"a table larger than the room":   {csv: "interval,vm0,vm1\n0,1,1\n1,1,1\n", room: 3, want: "line 3: more than"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			room := test.room
			if room == 0 {
				room = MaxValues
			}
			_, err := Parse(strings.NewReader(test.csv), "test.csv", room)
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("error = %v, want %q first", err, test.want)
			}
		})
	}
}

func TestSeriesAt(t *testing.T) {
	at := func(second int64) time.Time { return time.Unix(second, 0) }
	tests := map[string]struct {
		csv  string
		want map[int64]float64
	}{
		"values, lines between them, and the next round": {
			csv:  "ts,value\n1000,10\n1060,20\n1120,40\n",
			want: map[int64]float64{1000: 10, 1030: 15, 1060: 20, 1105: 35, 1120: 40, 1150: 25, 1180: 10, 1000 + 180*1000: 10, 1000 - 180 + 30: 15},
		},
		"a gap is bridged": {
			csv:  "ts,value\n1000,10\n1060,20\n1120,30\n1300,60\n1360,70\n",
			want: map[int64]float64{1180: 40, 1240: 50, 1270: 55, 1360: 70},
		},
		"a table starts at the epoch, in steps of five minutes": {
			csv:  "interval,vm0\n0,10\n1,20\n2,30\n",
			want: map[int64]float64{0: 10, 150: 15, 300: 20, 600: 30, 750: 20, 900: 10},
		},
		"a byte order mark and Windows' line ends": {
			csv: "\ufeffts,value\r\n1000,1\r\n1060,3\r\n", want: map[int64]float64{1030: 2},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			series, err := Parse(strings.NewReader(test.csv), "test.csv", MaxValues)
			if err != nil {
				t.Fatal(err)
			}
			got := map[int64]float64{}
			for second := range test.want {
				got[second] = series[0].At(at(second))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("values (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOpen(t *testing.T) {
	set, err := Open(filepath.Join("testdata", "mixed"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, series := range append(set.Services, set.VMs...) {
		names = append(names, fmt.Sprintf("%s %s %d", series.Name, series.Step(), series.Len()))
	}
	want := []string{"checkout.csv 30m0s 48", "machines.csv:vm0 5m0s 12", "machines.csv:vm1 5m0s 12", "machines.csv:vm2 5m0s 12"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.csv")
	if err := os.WriteFile(bad, []byte("ts,value\n60,x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		bad:                              fmt.Sprintf("read trace %q: line 2: value \"x\"", bad),
		dir:                              fmt.Sprintf("read trace %q: line 2", bad),
		t.TempDir():                      "it holds no .csv file",
		filepath.Join(dir, "absent.csv"): "no such file",
		os.DevNull:                       "it is not a regular file",
	} {
		_, err := Open(path)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Open(%q) = %v, want %q", path, err, want)
			continue
		}
		if found, ok := finding.From(err); !ok || found.Code != finding.SandboxTraceInvalid || found.Hint == "" {
			t.Errorf("Open(%q) = %#v, want a finding with a hint", path, err)
		}
	}
}

func TestFor(t *testing.T) {
	set, err := Open(filepath.Join("testdata", "mixed"))
	if err != nil {
		t.Fatal(err)
	}
	services, vms := &Set{Services: set.Services}, &Set{VMs: set.VMs}
	highest := func(load Load) (highest float64) {
		for at := time.Unix(0, 0); at.Before(time.Unix(2*86400, 0)); at = at.Add(5 * time.Minute) {
			highest = max(highest, load.At(at))
		}
		return highest
	}
	seen := map[float64]bool{}
	for i := range 50 {
		workload := fmt.Sprint("shop/app-", i)
		peak := highest(services.For(workload, workload+"-a"))
		if peak < 0.40-1e-6 || peak > 0.60+1e-6 {
			t.Errorf("peak of %s is %g of its request, want 0.4 to 0.6", workload, peak)
		}
		seen[math.Round(peak*100)] = true
		if services.For(workload, "one") != services.For(workload, "other") {
			t.Errorf("replicas of %s follow different loads", workload)
		}
		if set.For(workload, "one") != set.For(workload, "one") {
			t.Errorf("%s does not get the same load twice", workload)
		}
	}
	if len(seen) < 5 {
		t.Errorf("50 workloads have %d different peaks, want a spread", len(seen))
	}
	columns := map[string]bool{}
	for i := range 50 {
		load := vms.For("shop/web", fmt.Sprint("shop/web-", i))
		columns[load.Series.Name] = true
		if got, want := load.At(time.Unix(0, 0)), load.Series.At(time.Unix(0, 0))/100; got != want {
			t.Errorf("load = %g, want the percentage as a fraction, %g", got, want)
		}
	}
	if len(columns) != 3 {
		t.Errorf("50 replicas follow %d of 3 machines", len(columns))
	}
}

func TestARecordingOfNothingIsNoLoad(t *testing.T) {
	series, err := Parse(strings.NewReader("ts,value\n60,0\n120,0\n"), "idle.csv", MaxValues)
	if err != nil {
		t.Fatal(err)
	}
	if got := (&Set{Services: series}).For("a", "b").At(time.Unix(90, 0)); got != 0 {
		t.Errorf("load = %g, want 0", got)
	}
}

func TestInterpolationStaysBetweenValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(0, 1000), 2, 20).Draw(t, "values")
		var csv strings.Builder
		csv.WriteString("ts,value\n")
		at, lowest, highest := int64(1), math.Inf(1), 0.0
		for _, value := range values {
			at += rapid.Int64Range(1, 100).Draw(t, "gap")
			fmt.Fprintf(&csv, "%d,%g\n", at, value)
			lowest, highest = min(lowest, value), max(highest, value)
		}
		series, err := Parse(strings.NewReader(csv.String()), "test.csv", MaxValues)
		if err != nil {
			t.Fatal(err)
		}
		got := series[0].At(time.Unix(rapid.Int64Range(-1e10, 1e10).Draw(t, "second"), rapid.Int64Range(0, 1e9-1).Draw(t, "nanos")))
		if got < lowest*(1-1e-6)-1e-30 || got > highest*(1+1e-6)+1e-30 {
			t.Fatalf("value %g lies outside of %g to %g", got, lowest, highest)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "ts,value\n60,1\n120,2\n", "interval,a,b\n0,1,2\n1,3,4\n", "ts,value\n60,NaN\n", "ts,value\n1,1\n2,1\n253402300799,1\n", "\ufeffts,value\r\n\"1\",2\r\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		const room = 10000
		series, err := Parse(io.LimitReader(strings.NewReader(text), 1<<16), "fuzz.csv", room)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "line ") {
				t.Errorf("error %v does not name a line", err)
			}
			return
		}
		total := 0
		for _, s := range series {
			total += s.Len()
			for _, second := range []int64{-1, 0, 1 << 40} {
				if value := s.At(time.Unix(second, 1)); math.IsNaN(value) || value < 0 || value > maxValue*1.001 {
					t.Errorf("value %g at %d", value, second)
				}
			}
		}
		if total > room {
			t.Errorf("%d values, more than %d", total, room)
		}
		if len(series) == 0 {
			t.Error(errors.New("neither series nor error"))
		}
	})
}
