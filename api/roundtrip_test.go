package api_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

// document is one object of a file under testdata, as it was written and as it was decoded.
type document struct {
	file  string
	raw   []byte
	typed runtime.Object
}

func documents(t *testing.T, scheme *runtime.Scheme) []document {
	t.Helper()
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("testdata: %d files, %v", len(files), err)
	}
	var docs []document
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for part := range strings.SplitSeq(string(data), "\n---\n") {
			docs = append(docs, decodeDocument(t, scheme, file, part))
		}
	}
	return docs
}

func decodeDocument(t *testing.T, scheme *runtime.Scheme, file, text string) document {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	var meta struct{ APIVersion, Kind string }
	if err := json.Unmarshal(raw, &meta); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	typed, err := scheme.New(schema.FromAPIVersionAndKind(meta.APIVersion, meta.Kind))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(typed); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return document{file: file, raw: raw, typed: typed}
}

func TestObjectsSurviveDecodingAndEncoding(t *testing.T) {
	for _, doc := range documents(t, newScheme(t)) {
		encoded, err := json.Marshal(doc.typed.DeepCopyObject())
		if err != nil {
			t.Fatalf("%s: %v", doc.file, err)
		}
		var want, got any
		if err := json.Unmarshal(doc.raw, &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(encoded, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s changed (-want,+got):\n%s", doc.file, diff)
		}
	}
}

func TestEveryKindHasTestdata(t *testing.T) {
	scheme := newScheme(t)
	seen := map[reflect.Type]bool{}
	for _, doc := range documents(t, scheme) {
		seen[reflect.TypeOf(doc.typed).Elem()] = true
	}
	for gvk, typ := range scheme.AllKnownTypes() {
		if ours(typ) && !strings.HasSuffix(gvk.Kind, "List") && !seen[typ] {
			t.Errorf("testdata has no %s", gvk)
		}
	}
}

// A field that no object sets would make the round trip prove nothing about it.
func TestTestdataSetsEveryField(t *testing.T) {
	set, known := map[string]bool{}, map[string]bool{}
	for _, doc := range documents(t, newScheme(t)) {
		value := reflect.ValueOf(doc.typed).Elem()
		listFields(value.Type(), known, map[reflect.Type]bool{})
		markFields(value, set)
	}
	var missing []string
	for name := range known {
		if !set[name] {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	if len(missing) > 0 {
		t.Errorf("never set in testdata: %s", strings.Join(missing, ", "))
	}
}

func ours(typ reflect.Type) bool {
	return strings.HasPrefix(typ.PkgPath(), "koordinator.sh/koord/api/")
}

// listFields collects the fields of our structs that are reachable from a type.
func listFields(typ reflect.Type, known map[string]bool, visited map[reflect.Type]bool) {
	switch typ.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		listFields(typ.Elem(), known, visited)
	case reflect.Struct:
		if !ours(typ) || visited[typ] {
			return
		}
		visited[typ] = true
		for field := range typ.Fields() {
			if !statusWithoutFields(field) {
				known[fieldName(typ, field)] = true
			}
			listFields(field.Type, known, visited)
		}
	}
}

// markFields collects the fields of our structs that are not zero.
func markFields(value reflect.Value, set map[string]bool) {
	switch value.Kind() {
	case reflect.Pointer:
		if !value.IsNil() {
			markFields(value.Elem(), set)
		}
	case reflect.Slice:
		for i := range value.Len() {
			markFields(value.Index(i), set)
		}
	case reflect.Map:
		for _, element := range value.Seq2() {
			markFields(element, set)
		}
	case reflect.Struct:
		if !ours(value.Type()) {
			return
		}
		for i := range value.NumField() {
			if !value.Field(i).IsZero() {
				set[fieldName(value.Type(), value.Type().Field(i))] = true
			}
			markFields(value.Field(i), set)
		}
	}
}

func statusWithoutFields(field reflect.StructField) bool {
	return field.Type.Kind() == reflect.Struct && ours(field.Type) && field.Type.NumField() == 0
}

func fieldName(typ reflect.Type, field reflect.StructField) string {
	return typ.PkgPath()[len("koordinator.sh/koord/api/"):] + "." + typ.Name() + "." + field.Name
}
