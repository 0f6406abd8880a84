package architecture

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	schedulingv1alpha1 "koordinator.sh/koord/api/scheduling/v1alpha1"
)

// TestEveryFieldOfAPodMigrationJobIsDocumented compares the table of docs/descheduling.md with the type: each field that is served is in it,
// with or without an effect, and nothing else is.
func TestEveryFieldOfAPodMigrationJobIsDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "descheduling.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## Every field of a PodMigrationJob\n")
	if !found {
		t.Fatal("docs/descheduling.md has no section \"Every field of a PodMigrationJob\"")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var documented []string
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[1], -1) {
			documented = append(documented, name[1])
		}
	}
	fields := slices.Concat(
		fieldsOf(reflect.TypeFor[schedulingv1alpha1.PodMigrationJobSpec](), "spec"), fieldsOf(reflect.TypeFor[schedulingv1alpha1.PodMigrationJobStatus](), "status"),
	)
	slices.Sort(documented)
	slices.Sort(fields)
	if diff := cmp.Diff(fields, documented); diff != "" {
		t.Errorf("fields of a PodMigrationJob (-served +documented):\n%s", diff)
	}
}

// fieldsOf are the paths of the fields of a struct. Those of the structs that PodMigrationJobs alone have stand for these.
func fieldsOf(of reflect.Type, path string) []string {
	var out []string
	for i := range of.NumField() {
		field := of.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		at, within := path+"."+name, field.Type
		list := within.Kind() == reflect.Slice
		for within.Kind() == reflect.Pointer || within.Kind() == reflect.Slice {
			within = within.Elem()
		}
		entered := within.Kind() == reflect.Struct && strings.HasPrefix(within.Name(), "PodMigra") && within.NumField() > 0
		switch {
		case entered && list:
			out = append(out, fieldsOf(within, at+"[]")...)
		case entered:
			out = append(out, fieldsOf(within, at)...)
		default:
			out = append(out, at)
		}
	}
	return out
}
