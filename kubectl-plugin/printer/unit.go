package printer

import (
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
	"koordinator.sh/koord/decision/core/freshness"
)

const (
	none    = "<none>"
	unknown = "<unknown>"
	// unseen stands for a value that the user is not permitted to see.
	unseen = "?"
	// future is the age of what lies ahead.
	future = "<future>"
)

// Cores formats milliCPU as cores with at most two decimals. What would vanish is given in milliCPU: 4m.
func Cores(milli int64) string {
	if milli > -10 && milli < 10 && milli != 0 {
		return strconv.FormatInt(milli, 10) + "m"
	}
	return decimal(float64(milli)/1000, 2)
}

var byteUnits = []struct {
	name string
	size float64
}{{"Gi", 1 << 30}, {"Mi", 1 << 20}, {"Ki", 1 << 10}}

// Bytes formats bytes in Gi, or in Mi or Ki when they are less than one Gi: three significant digits, rounded.
func Bytes(bytes int64) string {
	magnitude := float64(bytes)
	if bytes < 0 {
		magnitude = -magnitude
	}
	for _, unit := range byteUnits {
		if magnitude < unit.size {
			continue
		}
		places := 0
		switch value := magnitude / unit.size; {
		case value < 10:
			places = 2
		case value < 100:
			places = 1
		}
		return decimal(float64(bytes)/unit.size, places) + unit.name
	}
	return strconv.FormatInt(bytes, 10)
}

// Quantity formats a value with the unit a person reads it in: cores without a unit, bytes with Gi, percent with %.
func Quantity(value int64, unit diagnosticsv1alpha1.Unit) string {
	switch unit {
	case diagnosticsv1alpha1.MilliCPU:
		return Cores(value)
	case diagnosticsv1alpha1.Bytes:
		return Bytes(value)
	case diagnosticsv1alpha1.Percent:
		return strconv.FormatInt(value, 10) + "%"
	case diagnosticsv1alpha1.Seconds:
		return seconds(value)
	default:
		return strconv.FormatInt(value, 10)
	}
}

// QuantityWithUnit is Quantity for running text, where cores need their name: "12.5 cores".
func QuantityWithUnit(value int64, unit diagnosticsv1alpha1.Unit) string {
	text := Quantity(value, unit)
	switch {
	case unit != diagnosticsv1alpha1.MilliCPU || strings.HasSuffix(text, "m"):
		return text
	case text == "1":
		return "1 core"
	default:
		return text + " cores"
	}
}

// UnitName is the unit's name in its own column.
func UnitName(unit diagnosticsv1alpha1.Unit) string {
	switch unit {
	case diagnosticsv1alpha1.MilliCPU:
		return "cores"
	case diagnosticsv1alpha1.Percent:
		return "percent"
	default:
		return string(unit)
	}
}

// Age formats how long ago a moment was, as kubectl does: 42s, 3m, 5h. A missing moment is <none>; one in the future
// is <future>, because a clock is wrong then and no age can be trusted.
func Age(now time.Time, moment *metav1.Time) string {
	if moment == nil || moment.IsZero() {
		return none
	}
	if moment.After(now.Add(time.Second)) {
		return future
	}
	return seconds(max(freshness.Seconds(now, moment.Time), 0))
}

// Ago is Age in a sentence: "5m ago", or "in the future".
func Ago(now time.Time, moment *metav1.Time) string {
	switch age := Age(now, moment); age {
	case none:
		return none
	case future:
		return "in the future"
	default:
		return age + " ago"
	}
}

// seconds formats a number of seconds as kubectl does an age, and also what no Duration can hold: 7973y.
func seconds(n int64) string {
	const most, year = 1 << 33, 365 * 24 * 60 * 60 // a Duration holds 292 years
	switch {
	case n < -most:
		return "-" + strconv.FormatInt(-(n/year), 10) + "y"
	case n < 0:
		return "-" + duration.HumanDuration(time.Duration(-n)*time.Second)
	case n > most:
		return strconv.FormatInt(n/year, 10) + "y"
	}
	return duration.HumanDuration(time.Duration(n) * time.Second)
}

func decimal(value float64, places int) string {
	text := strconv.FormatFloat(value, 'f', places, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	if text == "-0" {
		return "0"
	}
	return text
}

// Pair formats part/whole and names their unit once when it is the same: 12.5/32, 40/128Gi, 200Mi/1Gi. A missing value
// is a question mark.
func Pair(part, whole *int64, unit diagnosticsv1alpha1.Unit) string {
	left, right := optional(part, unit), optional(whole, unit)
	if unit == diagnosticsv1alpha1.Bytes && len(left) > 2 && len(right) > 2 && left[len(left)-2:] == right[len(right)-2:] {
		left = left[:len(left)-2]
	}
	return left + "/" + right
}

func optional(value *int64, unit diagnosticsv1alpha1.Unit) string {
	if value == nil {
		return unseen
	}
	return Quantity(*value, unit)
}
