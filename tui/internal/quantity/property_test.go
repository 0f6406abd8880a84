package quantity

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestAmountsAreWrittenAsTheyAre: read back, a text is off by less than its last digit, and no text is longer than a narrow column.
func TestAmountsAreWrittenAsTheyAre(t *testing.T) {
	near := func(t *rapid.T, text string, got, want float64) {
		if off := math.Abs(got - want); off > max(math.Abs(want)*0.0051, 0.0051) {
			t.Fatalf("%q is %g, and %g was meant", text, got, want)
		}
		if len(text) > len("-1000Mi") {
			t.Fatalf("%q is long", text)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		milli := rapid.Int64Range(-999_000_000, 999_000_000).Draw(t, "milli")
		cores, err := strconv.ParseFloat(Cores(milli), 64)
		if err != nil {
			t.Fatal(err)
		}
		near(t, Cores(milli), cores, float64(milli)/1000)

		n := rapid.Int64().Draw(t, "bytes")
		text, unit, scale := Bytes(n), 0, 1.0
		for i, suffix := range binary {
			if strings.HasSuffix(text, suffix) {
				unit = i
			}
		}
		for range unit {
			scale *= 1024
		}
		value, err := strconv.ParseFloat(strings.TrimSuffix(text, binary[unit]), 64)
		if err != nil {
			t.Fatal(err)
		}
		near(t, text, value, float64(n)/scale)
	})
}

// TestAgesNeverRunAhead: an age is at most what it is written for, by less than its last unit, and grows.
func TestAgesNeverRunAhead(t *testing.T) {
	read := func(t *rapid.T, text string) time.Duration {
		if days, ok := strings.CutSuffix(text, "d"); ok {
			n, err := strconv.Atoi(days)
			if err != nil {
				t.Fatal(err)
			}
			return time.Duration(n) * 24 * time.Hour
		}
		d, err := time.ParseDuration(text)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	justBefore := func(unit time.Duration) *rapid.Generator[int64] {
		return rapid.Map(rapid.Int64Range(1, 60), func(n int64) int64 { return n*int64(unit) - 1 })
	}
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.OneOf(justBefore(time.Minute), justBefore(time.Hour), rapid.Int64Range(0, int64(5*time.Minute)),
			rapid.Int64Range(0, int64(50*time.Hour)), rapid.Int64Range(0, int64(4000*24*time.Hour))).Draw(t, "age"))
		text := Age(d)
		unit := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour}[text[len(text)-1]]
		if got := read(t, text); got > d || d-got >= unit {
			t.Fatalf("%s is written as %s", d, text)
		}
		later := d + time.Duration(rapid.Int64Range(0, int64(100*time.Hour)).Draw(t, "later"))
		if read(t, Age(later)) < read(t, text) {
			t.Fatalf("%s is written as %s, and %s as %s", d, text, later, Age(later))
		}
		if AgeSeconds(int64(d/time.Second)) != text {
			t.Fatalf("%s is written as %s, its seconds as %s", d, text, AgeSeconds(int64(d/time.Second)))
		}
	})
}

// TestSharesAddUp: a part of a whole is between nothing and all of it, and there is no share of nothing.
func TestSharesAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := rapid.Int64Range(1, 1<<50).Draw(t, "whole")
		part := rapid.Int64Range(0, whole).Draw(t, "part")
		share, ok := Share(part, whole)
		rest, _ := Share(whole-part, whole)
		if !ok || share < 0 || share > 100 || share+rest < 100 || share+rest > 101 {
			t.Fatalf("%d of %d is %d%%, the rest %d%%", part, whole, share, rest)
		}
		if want := strconv.FormatInt(share, 10) + "%"; Percent(part, whole) != want {
			t.Fatalf("%d of %d is written as %s, want %s", part, whole, Percent(part, whole), want)
		}
	})
	if _, ok := Share(1, 0); ok {
		t.Error("there is a share of nothing")
	}
}
