package finding

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// declaredCodes reads codes.go, so that a constant without an entry, or an entry without a constant, fails.
func declaredCodes(t *testing.T) map[string]string {
	t.Helper()
	source, err := os.ReadFile("codes.go")
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), "codes.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	declared := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		if literal, ok := spec.Values[0].(*ast.BasicLit); ok {
			value, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			declared[value] = spec.Names[0].Name
		}
		return true
	})
	return declared
}

func TestEveryConstantHasAnEntryAndEveryEntryAConstant(t *testing.T) {
	entries, err := All()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, entry := range entries {
		got[string(entry.Code)] = entry.Name
	}
	if diff := cmp.Diff(declaredCodes(t), got); diff != "" {
		t.Errorf("constants and catalogue differ (-constants +catalogue):\n%s", diff)
	}
}

func TestEntriesAreOrderedAndComplete(t *testing.T) {
	entries, err := All()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.IsSortedFunc(entries, func(a, b Entry) int {
		if a.Code < b.Code {
			return -1
		}
		return 1
	}) {
		t.Error("entries are not ordered by code")
	}
	form := regexp.MustCompile(`^KOORD\d{4}$`)
	for _, entry := range entries {
		if !form.MatchString(string(entry.Code)) {
			t.Errorf("%s: not of the form KOORDnnnn", entry.Code)
		}
		if entry.Class.Rank() == len(classes) {
			t.Errorf("%s: unknown class %q", entry.Code, entry.Class)
		}
		if !slices.Contains([]string{"error", "warning", "info"}, entry.Severity) {
			t.Errorf("%s: unknown severity %q", entry.Code, entry.Severity)
		}
		for part, text := range map[string]Text{"summary": entry.Summary, "cause": entry.Cause, "fix": entry.Fix} {
			if text.English == "" || text.Chinese == "" {
				t.Errorf("%s: %s lacks a language", entry.Code, part)
			}
		}
	}
}

func TestParseCode(t *testing.T) {
	for text, want := range map[string]Code{
		"KOORD0102": "KOORD0102", "koord0102": "KOORD0102", "0102": "KOORD0102", "102": "KOORD0102", "KOORD7": "KOORD0007",
		"": "", "KOORD": "", "KOORD01020": "", "web-1": "", "KOORD-102": "", "102 ": "",
	} {
		got, ok := ParseCode(text)
		if got != want || ok != (want != "") {
			t.Errorf("ParseCode(%q) = %q, %t, want %q", text, got, ok, want)
		}
	}
}
