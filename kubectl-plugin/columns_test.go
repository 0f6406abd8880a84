package kubectlplugin

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	diagnosticsv1alpha1 "koordinator.sh/koord/api/diagnostics/v1alpha1"
)

// twoNodes is a list to print columns of.
func twoNodes() *diagnosticsv1alpha1.NodeOverviewList {
	return &diagnosticsv1alpha1.NodeOverviewList{Items: []diagnosticsv1alpha1.NodeOverview{
		{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"pool": "x"}}, CPU: diagnosticsv1alpha1.ResourceOverview{Capacity: 4000, Used: new(int64(7))}},
		{ObjectMeta: metav1.ObjectMeta{Name: "b\nforged"}, CPU: diagnosticsv1alpha1.ResourceOverview{Capacity: 32000}},
	}}
}

func TestCustomColumnsPrintAsKubectlDoes(t *testing.T) {
	file := writeFile(t, "columns", "NODE   CPU\n.metadata.name {.cpu.capacity}\n")
	tests := map[string]struct {
		format    string
		noHeaders bool
		want      string
	}{
		"one column":               {"custom-columns=N:.metadata.name", false, "N\na\nb forged\n"},
		"two":                      {"custom-columns=N:.metadata.name,C:.cpu.capacity", false, "N          C\na          4000\nb forged   32000\n"},
		"without headers":          {"custom-columns=N:.metadata.name,C:.cpu.capacity", true, "a          4000\nb forged   32000\n"},
		"a value that one lacks":   {"custom-columns=U:.cpu.used", false, "U\n7\n<none>\n"},
		"a field there is not":     {"custom-columns=G:.gpu.count", false, "G\n<none>\n<none>\n"},
		"a label":                  {"custom-columns=P:.metadata.labels.pool", false, "P\nx\n<none>\n"},
		"without the leading dot":  {"custom-columns=N:metadata.name", false, "N\na\nb forged\n"},
		"a path that begins there": {"custom-columns=N:$.metadata.name", false, "N\na\nb forged\n"},
		"from a file":              {"custom-columns-file=" + file, false, "NODE       CPU\na          4000\nb forged   32000\n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			columns, err := newCustomColumns(tc.format, tc.noHeaders)
			if err != nil {
				t.Fatal(err)
			}
			var out strings.Builder
			if err := columns.PrintObj(twoNodes(), &out); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, out.String()); diff != "" {
				t.Errorf("columns (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCustomColumnsOfOneObject(t *testing.T) {
	columns, err := newCustomColumns("custom-columns=N:.metadata.name,C:.cpu.capacity", false)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := columns.PrintObj(&twoNodes().Items[0], &out); err != nil || out.String() != "N     C\na     4000\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

func TestColumnsThatCannotBeReadAreRefused(t *testing.T) {
	tests := map[string]struct{ format, want string }{
		"none":                  {"custom-columns", "custom-columns needs columns: custom-columns=NAME:.metadata.name"},
		"none after the sign":   {"custom-columns=", "custom-columns needs columns: custom-columns=NAME:.metadata.name"},
		"no path":               {"custom-columns=NAME", `column "NAME": must be HEADER:PATH`},
		"no path in the second": {"custom-columns=N:.a,B", `column "B": must be HEADER:PATH`},
		"an empty path":         {"custom-columns=N:", `column "N": path "": empty`},
		"half a brace":          {"custom-columns=N:{.a", `column "N": path "{.a": unbalanced braces`},
		"a path that is none":   {"custom-columns=N:.a[", `column "N": path ".a[": unterminated array`},
		"no file":               {"custom-columns-file", "custom-columns-file needs columns: custom-columns-file=NAME:.metadata.name"},
		"a file that is gone":   {"custom-columns-file=/nowhere/columns", "read the columns file: open /nowhere/columns: no such file or directory"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := newCustomColumns(tc.format, false); err == nil || err.Error() != tc.want {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
	for name, text := range map[string]string{"an empty file": "", "headers alone": "A B\n", "too few paths": "A B\n.a\n", "no headers": "\n.a\n"} {
		file := writeFile(t, "columns", text)
		if _, err := newCustomColumns("custom-columns-file="+file, false); err == nil || !strings.Contains(err.Error(), "must have a line of headers and a line with as many paths") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestOutputFormatsAreCheckedBeforeAnythingIsAsked(t *testing.T) {
	tests := map[string]struct {
		format   string
		wantText string
	}{
		"an unknown one":           {"xml", "unknown, allowed formats are: custom-columns,"},
		"a template without text":  {"go-template", "template format specified but no template given"},
		"a template that is none":  {"go-template={{.a", "unclosed action"},
		"a jsonpath that is none":  {"jsonpath={.a", "unclosed action"},
		"columns that are none":    {"custom-columns=A", "must be HEADER:PATH"},
		"a file that is not there": {"jsonpath-file=/nowhere", "no such file"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			server := cluster()
			got := run(t, server, "top nodes -o "+tc.format)
			if got.code != ExitUsage || !strings.Contains(got.stderr, tc.wantText) || got.stdout != "" {
				t.Errorf("exit code %d, want %q:\n%s%s", got.code, tc.wantText, got.stdout, got.stderr)
			}
			if asked := server.Requests(); len(asked) > 0 {
				t.Errorf("the cluster was asked %q", asked)
			}
		})
	}
}
