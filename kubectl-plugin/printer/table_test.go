package printer

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// fruit is a table with columns of every sort.
func fruit() *table {
	t := &table{columns: []column{
		{header: "NAME", flexible: 6}, {header: "COUNT", right: true}, {header: "ORIGIN", drop: 1}, {header: "BAR", terminal: true, drop: 2}, {header: "LATIN", wide: true},
	}}
	t.add(text("apple"), text("3"), text("Kazakhstan"), text("###"), text("Malus domestica"))
	t.add(text("passion fruit"), text("120"), painted(Dim, "Brazil"), text("#"), text("Passiflora edulis"))
	return t
}

func TestATableFitsItsTerminal(t *testing.T) {
	tests := map[string]struct {
		options    Options
		indent     int
		want       string
		wantHidden []string
	}{
		"piped, without drawings": {
			want: "NAME           COUNT  ORIGIN\napple              3  Kazakhstan\npassion fruit    120  Brazil\n",
		},
		"wide, with all columns": {
			options: Options{Wide: true},
			want:    "NAME           COUNT  ORIGIN      LATIN\napple              3  Kazakhstan  Malus domestica\npassion fruit    120  Brazil      Passiflora edulis\n",
		},
		"wide is never cut": {
			options: Options{Wide: true, Width: 10},
			want:    "NAME           COUNT  ORIGIN      LATIN\napple              3  Kazakhstan  Malus domestica\npassion fruit    120  Brazil      Passiflora edulis\n",
		},
		"on a wide terminal": {
			options: Options{Width: 80},
			want:    "NAME           COUNT  ORIGIN      BAR\napple              3  Kazakhstan  ###\npassion fruit    120  Brazil      #\n",
		},
		"a flexible column is cut first": {
			options: Options{Width: 34},
			want:    "NAME        COUNT  ORIGIN      BAR\napple           3  Kazakhstan  ###\npassion f…    120  Brazil      #\n",
		},
		"then columns go, the highest first": {
			options: Options{Width: 28}, wantHidden: []string{"BAR"},
			want: "NAME       COUNT  ORIGIN\napple          3  Kazakhstan\npassion …    120  Brazil\n",
		},
		"and all that can": {
			options: Options{Width: 18}, wantHidden: []string{"ORIGIN", "BAR"},
			want: "NAME         COUNT\napple            3\npassion fr…    120\n",
		},
		"at the utmost a line is cut": {
			options: Options{Width: 9}, wantHidden: []string{"ORIGIN", "BAR"},
			want: "NAME    …\napple   …\npassi…  …\n",
		},
		"without headers": {
			options: Options{NoHeaders: true}, want: "apple            3  Kazakhstan\npassion fruit  120  Brazil\n",
		},
		"indented": {
			indent: 2, want: "  NAME           COUNT  ORIGIN\n  apple              3  Kazakhstan\n  passion fruit    120  Brazil\n",
		},
		"in ASCII": {
			options: Options{Width: 34, Style: Style{ASCII: true}},
			want:    "NAME        COUNT  ORIGIN      BAR\napple           3  Kazakhstan  ###\npassion f~    120  Brazil      #\n",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			table := fruit()
			table.indent = tc.indent
			var out strings.Builder
			hidden, err := table.render(&out, tc.options)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, out.String()); diff != "" {
				t.Errorf("table (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.wantHidden, hidden); diff != "" {
				t.Errorf("hidden columns (-want +got):\n%s", diff)
			}
		})
	}
}

func TestATableCountsColumnsAsATerminalDoes(t *testing.T) {
	tests := map[string]struct{ name, want string }{
		"Chinese takes two":     {"节点", "NAME  N\n节点  1\n"},
		"an accent takes one":   {"café", "NAME  N\ncafé  1\n"},
		"colour takes none":     {"\x1b[31mred\x1b[0m!", "NAME  N\nred!  1\n"},
		"a line break is blank": {"a\nb", "NAME  N\na b   1\n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			table := &table{columns: []column{{header: "NAME"}, {header: "N", right: true}}}
			table.add(text(tc.name), text("1"))
			var out strings.Builder
			if _, err := table.render(&out, Options{}); err != nil {
				t.Fatal(err)
			}
			if out.String() != tc.want {
				t.Errorf("got %q, want %q", out.String(), tc.want)
			}
		})
	}
}

func TestParagraphsBreakAtWords(t *testing.T) {
	tests := map[string]struct {
		width, indent int
		in, want      string
	}{
		"piped":                       {0, 2, "one two three", "  one two three\n"},
		"room enough":                 {20, 0, "one two three", "one two three\n"},
		"a break":                     {9, 0, "one two three", "one two\nthree\n"},
		"hanging":                     {11, 2, "one two three", "  one two\n    three\n"},
		"a word too long":             {6, 0, "abcdefghij", "abcdef\nghij\n"},
		"no room beside the indent":   {2, 2, "one two", "  one two\n"},
		"nothing":                     {80, 2, "", "\n"},
		"Chinese breaks by its width": {4, 0, "节点故障", "节点\n故障\n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			wrapped(&b, Options{Width: tc.width}, tc.indent, tc.in)
			if b.String() != tc.want {
				t.Errorf("got %q, want %q", b.String(), tc.want)
			}
		})
	}
}

func TestListingsAddNamespacesAndLabels(t *testing.T) {
	object := &metav1.ObjectMeta{Namespace: "shop", Name: "web", Labels: map[string]string{"app": "web", "example.org/tier": "front"}}
	bare := &metav1.ObjectMeta{Namespace: "spark", Name: "etl"}
	tests := map[string]struct {
		options Options
		want    string
	}{
		"names alone":   {Options{}, "NAME\nweb\netl\n"},
		"namespaces":    {Options{WithNamespace: true}, "NAMESPACE  NAME\nshop       web\nspark      etl\n"},
		"label columns": {Options{LabelColumns: []string{"app", "example.org/tier"}}, "NAME  APP  TIER\nweb   web  front\netl\n"},
		"all labels":    {Options{ShowLabels: true}, "NAME  LABELS\nweb   app=web,example.org/tier=front\netl   <none>\n"},
		"everything":    {Options{WithNamespace: true, LabelColumns: []string{"app"}, ShowLabels: true}, "NAMESPACE  NAME  APP  LABELS\nshop       web   web  app=web,example.org/tier=front\nspark      etl        <none>\n"},
		"no headers":    {Options{WithNamespace: true, NoHeaders: true}, "shop   web\nspark  etl\n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			l := newListing([]column{{header: "NAME"}}, tc.options)
			l.add(object, text(object.Name))
			l.add(bare, text(bare.Name))
			var out strings.Builder
			if err := l.render(&out); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, out.String()); diff != "" {
				t.Errorf("listing (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAListingNamesWhatDidNotFit(t *testing.T) {
	for name, tc := range map[string]struct {
		hidden []string
		want   string
	}{
		"one":             {[]string{"AGE"}, "columns that did not fit: AGE\n"},
		"several":         {[]string{"AGE", "NODE"}, "columns that did not fit: AGE, NODE\n"},
		"a drawing alone": {[]string{shareColumn}, ""},
		"a drawing too":   {[]string{"AGE", shareColumn}, "columns that did not fit: AGE\n"},
	} {
		var out strings.Builder
		if err := hiddenNote(&out, tc.hidden, Options{}); err != nil || out.String() != tc.want {
			t.Errorf("%s: %q, %v, want %q", name, out.String(), err, tc.want)
		}
	}
}

// term of a waterfall in millicores.
func term(operator diagnosticsv1alpha1.Operator, value int64) diagnosticsv1alpha1.Term {
	return diagnosticsv1alpha1.Term{Name: "term", Operator: operator, Value: value, Unit: diagnosticsv1alpha1.MilliCPU}
}

func TestAWaterfallRunsAsItsOperatorsSay(t *testing.T) {
	tests := map[string]struct {
		operator       diagnosticsv1alpha1.Operator
		before, value  int64
		want           int64
		wantSign, wBar string
	}{
		"start":            {diagnosticsv1alpha1.Start, 0, 8000, 8000, " ", "========"},
		"minus":            {diagnosticsv1alpha1.Minus, 8000, 2000, 6000, "-", "      --"},
		"plus":             {diagnosticsv1alpha1.Plus, 4000, 2000, 6000, "+", "    ##"},
		"a minimum":        {diagnosticsv1alpha1.Min, 8000, 5000, 5000, "min", "     ---"},
		"one that is more": {diagnosticsv1alpha1.Min, 3000, 5000, 3000, "min", "   "},
		"a maximum":        {diagnosticsv1alpha1.Max, 2000, 5000, 5000, "max", "  ###"},
		"times a half":     {diagnosticsv1alpha1.Times, 8000, 50, 4000, "x", "    ----"},
		"a result":         {diagnosticsv1alpha1.Result, 1, 3000, 3000, "=", "==="},
		"a remark":         {diagnosticsv1alpha1.Info, 4000, 900, 4000, "i", ""},
		"below nothing":    {diagnosticsv1alpha1.Minus, 1000, 2000, -1000, "-", "-"},
		"hardly anything":  {diagnosticsv1alpha1.Minus, 8000, 1, 7999, "-", "       -"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			of := term(tc.operator, tc.value)
			after := apply(&of, tc.before)
			if after != tc.want || operatorSigns[tc.operator] != tc.wantSign {
				t.Errorf("%d after %q, want %d after %q", after, operatorSigns[tc.operator], tc.want, tc.wantSign)
			}
			// The bar of a narrow terminal has 12 cells, one for each core.
			bar := floating(&of, span{tc.before, after, 12000}, Options{Width: 80, Style: Style{ASCII: true}})
			if bar != tc.wBar {
				t.Errorf("bar %q, want %q", bar, tc.wBar)
			}
		})
	}
}

func TestAWaterfallOfNothingHasNoBars(t *testing.T) {
	zero := term(diagnosticsv1alpha1.Start, 0)
	if bar := floating(&zero, span{0, 0, 0}, Options{Width: 80}); bar != "" {
		t.Errorf("bar %q", bar)
	}
	if highest := largest([]diagnosticsv1alpha1.Term{term(diagnosticsv1alpha1.Start, 4000), term(diagnosticsv1alpha1.Plus, 3000), term(diagnosticsv1alpha1.Minus, 6000)}); highest != 7000 {
		t.Errorf("the largest running value is %d, want 7000", highest)
	}
}

func TestPartsOfATermAreListedAsFarAsAsked(t *testing.T) {
	fall := nodeExplanationFixture().Status.Waterfalls[0]
	for parts, want := range map[int]struct {
		listed int
		more   string
	}{0: {0, ""}, 1: {1, "and 20 more parts"}, 2: {2, "and 19 more parts"}, 9: {2, "and 19 more parts"}} {
		var out strings.Builder
		if err := Waterfall(&out, &fall, Options{Parts: parts, Now: fixtureNow}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(out.String(), "Pod/shop/"); got != want.listed {
			t.Errorf("%d parts: %d listed, want %d", parts, got, want.listed)
		}
		if want.more != "" && !strings.Contains(out.String(), want.more) || want.more == "" && strings.Contains(out.String(), "more part") {
			t.Errorf("%d parts: want %q in\n%s", parts, want.more, out.String())
		}
	}
}

func TestSourcesAreNamedAsKubectlNamesThem(t *testing.T) {
	tests := map[string]struct {
		source         *diagnosticsv1alpha1.SourceRef
		want, wantWide string
	}{
		"computed":         {nil, "computed", "computed"},
		"a kind":           {&diagnosticsv1alpha1.SourceRef{Kind: "Node"}, "Node", "Node"},
		"a node":           {&diagnosticsv1alpha1.SourceRef{Kind: "Node", Name: "n1"}, "Node/n1", "Node/n1"},
		"in a namespace":   {&diagnosticsv1alpha1.SourceRef{Kind: "Pod", Namespace: "shop", Name: "web"}, "Pod/shop/web", "Pod/shop/web"},
		"a field of one":   {&diagnosticsv1alpha1.SourceRef{Kind: "Node", Name: "n1", Field: "status.capacity"}, "Node/n1", "Node/n1:status.capacity"},
		"a field of those": {&diagnosticsv1alpha1.SourceRef{Kind: "Node", Field: "status.capacity"}, "Node", "Node:status.capacity"},
	}
	for name, tc := range tests {
		if got, wide := Source(tc.source, false), Source(tc.source, true); got != tc.want || wide != tc.wantWide {
			t.Errorf("%s: %q and %q, want %q and %q", name, got, wide, tc.want, tc.wantWide)
		}
	}
}

func TestStylesMarkWithoutColourToo(t *testing.T) {
	tests := map[Role]struct{ want, wantASCII string }{Good: {"✓", "+"}, Warn: {"▲", "!"}, Bad: {"✗", "x"}, Plain: {"•", "*"}, Dim: {"•", "*"}}
	for role, tc := range tests {
		if got, ascii := (Style{}).Mark(role), (Style{ASCII: true}).Mark(role); got != tc.want || ascii != tc.wantASCII {
			t.Errorf("role %d has the marks %q and %q, want %q and %q", role, got, ascii, tc.want, tc.wantASCII)
		}
	}
	seen := map[string]Role{}
	for _, role := range []Role{Prod, ProdReserved, Mid, Batch, BatchFree, System, Idle} {
		for _, style := range []Style{{}, {ASCII: true}} {
			bar := style.Bar(role, 1)
			if other, taken := seen[bar]; taken {
				t.Errorf("roles %d and %d are drawn alike: %q", role, other, bar)
			}
			seen[bar] = role
		}
	}
	if bar := (Style{}).Bar(Prod, 0) + (Style{}).Bar(Prod, -3); bar != "" {
		t.Errorf("a bar without cells: %q", bar)
	}
	if painted := (Style{Color: true}).Paint(Bad, ""); painted != "" {
		t.Errorf("empty text is painted: %q", painted)
	}
	if painted := (Style{Color: true}).Paint(Bad, "no"); painted != "\x1b[31mno\x1b[m" {
		t.Errorf("bad is %q", painted)
	}
	for _, name := range strings.Split(ShareLegend(Style{ASCII: true}), "  ") {
		if len(strings.Fields(name)) < 2 {
			t.Errorf("an area of the legend has no name: %q", name)
		}
	}
}
