package printer

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// FuzzPrinters feeds printers whatever JSON decodes to: a server may send anything.
func FuzzPrinters(f *testing.F) {
	for _, seed := range []any{nodesFixture(), podsFixture(), nodeExplanationFixture(), pendingPodFixture(), boundPodFixture()} {
		data, err := json.Marshal(seed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, uint8(80), uint8(3))
	}
	f.Add([]byte(`{"status":{"summary":"\u001b]0;owned\u0007\u001b[2J","pod":{"name":"a\nb"},"verdict":"\u009b31m"}}`), uint8(20), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, width, parts uint8) {
		var nodes diagnosticsv1alpha1.NodeOverviewList
		var pods diagnosticsv1alpha1.PodOverviewList
		var node diagnosticsv1alpha1.NodeExplanation
		var pod diagnosticsv1alpha1.PodExplanation
		o := Options{Width: int(width), Parts: int(parts), Now: fixtureNow}
		var out bytes.Buffer
		if json.Unmarshal(data, &nodes) == nil {
			_ = NodeOverviews(&out, &nodes, o)
		}
		if json.Unmarshal(data, &pods) == nil {
			_ = PodOverviews(&out, &pods, o)
		}
		if json.Unmarshal(data, &node) == nil {
			_ = NodeExplanation(&out, &node, o)
		}
		if json.Unmarshal(data, &pod) == nil {
			_ = PodExplanation(&out, &pod, o)
		}
		for _, r := range out.String() {
			if r != '\n' && unicode.IsControl(r) {
				t.Fatalf("control character %q reaches the terminal", r)
			}
		}
	})
}

func TestCleanRemovesWhatCouldForgeOutput(t *testing.T) {
	tests := map[string]struct{ in, want string }{
		"plain":              {"web-1", "web-1"},
		"unicode":            {"节点 é", "节点 é"},
		"colour":             {"\x1b[31mred\x1b[0m", "red"},
		"title":              {"a\x1b]0;owned\x07b", "ab"},
		"newline":            {"a\nerror: b", "a error: b"},
		"carriage return":    {"a\rb", "a b"},
		"right-to-left mark": {"a\u202eb", "a b"},
		"invalid bytes":      {"a\xffb", "a?b"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := (Style{}).Clean(tc.in); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestUnits(t *testing.T) {
	farAhead, longGone := time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), time.Date(2, 1, 1, 0, 0, 0, 0, time.UTC)
	tests := map[string]struct{ got, want string }{
		"whole cores":        {Cores(32000), "32"},
		"part of a core":     {Cores(12500), "12.5"},
		"two decimals":       {Cores(8126), "8.13"},
		"hardly anything":    {Cores(4), "4m"},
		"nothing":            {Cores(0), "0"},
		"negative":           {Cores(-2500), "-2.5"},
		"gibibytes":          {Bytes(128 << 30), "128Gi"},
		"part of a gibibyte": {Bytes(5<<30 + 1<<28), "5.25Gi"},
		"mebibytes":          {Bytes(700 << 20), "700Mi"},
		"bytes":              {Bytes(512), "512"},
		"smallest":           {Bytes(-1 << 63), "-8589934592Gi"},
		"pair of one unit":   {Pair(new(int64(40<<30)), new(int64(128<<30)), diagnosticsv1alpha1.Bytes), "40/128Gi"},
		"pair of two units":  {Pair(new(int64(200<<20)), new(int64(1<<30)), diagnosticsv1alpha1.Bytes), "200Mi/1Gi"},
		"pair with a hole":   {Pair(nil, new(int64(1000)), diagnosticsv1alpha1.MilliCPU), "?/1"},
		"future":             {Age(fixtureNow, before(-5e9)), "<future>"},
		"the year 9999":      {Age(fixtureNow, &metav1.Time{Time: farAhead}), "<future>"},
		"long ago":           {Age(fixtureNow, &metav1.Time{Time: longGone}), strconv.Itoa(fixtureNow.Year()-1) + "y"},
		"a while ago":        {Ago(fixtureNow, before(300e9)), "5m ago"},
		"ago in the future":  {Ago(fixtureNow, &metav1.Time{Time: farAhead}), "in the future"},
		"never ago":          {Ago(fixtureNow, nil), "<none>"},
		"seconds ahead":      {Quantity(-300, diagnosticsv1alpha1.Seconds), "-5m"},
		"seconds of ages":    {Quantity(farAhead.Unix()-longGone.Unix(), diagnosticsv1alpha1.Seconds), "10004y"},
		"least seconds":      {Quantity(-1<<63, diagnosticsv1alpha1.Seconds), "-292471208677y"},
		"pending":            {pendingFor(fixtureNow, before(300e9)), "pending for 5m"},
		"pending, ahead":     {pendingFor(fixtureNow, &metav1.Time{Time: farAhead}), "pending, created in the future"},
		"metric":             {metricAgeText(fixtureNow, before(300e9)), "5m old"},
		"metric, ahead":      {metricAgeText(fixtureNow, &metav1.Time{Time: farAhead}), "updated in the future"},
		"never":              {Age(fixtureNow, nil), "<none>"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if tc.got != tc.want {
				t.Errorf("got %q, want %q", tc.got, tc.want)
			}
		})
	}
}

func TestShareBarIsAlwaysAsWideAsAsked(t *testing.T) {
	for _, node := range nodesFixture().Items {
		for width := range 60 {
			bar := ShareBar(node.CPU, width, Style{ASCII: true})
			if got := ansi.StringWidth(bar); got != width {
				t.Fatalf("%s: %d cells of %d: %s", node.Name, got, width, bar)
			}
		}
	}
	over := diagnosticsv1alpha1.ResourceOverview{Capacity: 1000, ProdRequested: new(int64), ProdUsed: new(int64(900)), BatchUsed: new(int64(900)), SystemUsed: new(int64(-5))}
	if got := ShareBar(over, 10, Style{ASCII: true}); got != strings.Repeat("P", 9)+"B" {
		t.Errorf("got %s", got)
	}
}
