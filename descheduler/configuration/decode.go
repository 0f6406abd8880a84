package configuration

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"koordinator.sh/koord/api/descheduler/v1alpha2"
)

// decode reads a document of YAML or JSON. Unknown fields, those in another case included, and repeated ones are errors. Each field of the
// configuration and of its profiles is decoded by itself, so that one of a wrong type does not hide what is wrong with the others.
func decode(data []byte) (*v1alpha2.DeschedulerConfiguration, field.ErrorList) {
	var raw map[string]json.RawMessage
	document, err := yaml.YAMLToJSONStrict(data)
	if err == nil {
		err = json.Unmarshal(document, &raw)
	}
	if err != nil {
		return nil, field.ErrorList{field.Invalid(nil, field.OmitValueType{}, strings.TrimPrefix(err.Error(), "error converting YAML to JSON: "))}
	}
	if problems := validateKind(raw); len(problems) > 0 {
		return nil, problems
	}
	out := &v1alpha2.DeschedulerConfiguration{}
	profiles := raw["profiles"]
	delete(raw, "profiles")
	problems := decodeFields(raw, out, nil)
	var items []map[string]json.RawMessage
	if err := json.Unmarshal(orNull(profiles), &items); err != nil {
		return nil, append(problems, field.TypeInvalid(field.NewPath("profiles"), field.OmitValueType{}, "must be a list of profiles"))
	}
	for i, item := range items {
		profile := v1alpha2.DeschedulerProfile{}
		problems = append(problems, decodeFields(item, &profile, field.NewPath("profiles").Index(i))...)
		out.Profiles = append(out.Profiles, profile)
	}
	return out, problems
}

func orNull(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("null")
	}
	return raw
}

// validateKind refuses other documents, and says of a policy of sigs.k8s.io/descheduler how it differs.
func validateKind(raw map[string]json.RawMessage) field.ErrorList {
	var apiVersion, kind string
	var problems field.ErrorList
	for _, header := range []struct {
		name, want string
		into       *string
	}{{"apiVersion", v1alpha2.GroupVersion.String(), &apiVersion}, {"kind", v1alpha2.Kind, &kind}} {
		path := field.NewPath(header.name)
		if err := json.Unmarshal(orNull(raw[header.name]), header.into); err != nil {
			problems = append(problems, field.TypeInvalid(path, field.OmitValueType{}, "must be a string"))
		} else if *header.into == "" {
			problems = append(problems, field.Required(path, "must be "+header.want))
		} else if *header.into != header.want {
			problems = append(problems, field.NotSupported(path, *header.into, []string{header.want}))
		}
	}
	if kind == "DeschedulerPolicy" {
		return field.ErrorList{field.Invalid(field.NewPath("kind"), kind, "this is a policy of sigs.k8s.io/descheduler; write a DeschedulerConfiguration of descheduler/v1alpha2: "+
			"the plugins of a profile are lists of {name: ...}, the extension points are deschedule, balance, evict and filter, and nodeSelector is a label selector; "+
			"arguments of plugins stay as they are, but without the extension points sort and preEvictionFilter")}
	}
	return problems
}

// decodeFields decodes the fields of an object one by one.
func decodeFields(raw map[string]json.RawMessage, into any, path *field.Path) field.ErrorList {
	var problems field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		one, err := json.Marshal(map[string]json.RawMessage{name: raw[name]})
		if err != nil {
			problems = append(problems, field.InternalError(path.Child(name), err))
			continue
		}
		// Into a new object first, as a field of a wrong type may be left half decoded.
		found, complete := unmarshal(one, reflect.New(reflect.TypeOf(into).Elem()).Interface(), path)
		problems = append(problems, found...)
		if complete {
			_, _ = unmarshal(one, into, path)
		}
	}
	return problems
}

// unmarshal decodes JSON strictly and reports errors below a path. It is complete unless a value has a wrong type.
func unmarshal(raw []byte, into any, path *field.Path) (problems field.ErrorList, complete bool) {
	strict, err := kjson.UnmarshalStrict(raw, into)
	if err != nil {
		return field.ErrorList{typeProblem(raw, into, path, err)}, false
	}
	for _, unknown := range strict {
		problems = append(problems, strictProblem(unknown, path))
	}
	return problems, true
}

// typeProblem names the field that has a value of a wrong type. The strict decoder has an error of its own for that, which it keeps to
// itself, so the standard library is asked.
func typeProblem(raw []byte, into any, path *field.Path, err error) *field.Error {
	var mismatch *json.UnmarshalTypeError
	if errors.As(json.Unmarshal(raw, reflect.New(reflect.TypeOf(into).Elem()).Interface()), &mismatch) && mismatch.Field != "" {
		detail := fmt.Sprintf("must be %s, not %s", kindName(mismatch.Type), mismatch.Value)
		return field.TypeInvalid(below(path, mismatch.Field), field.OmitValueType{}, detail)
	}
	return field.Invalid(path, field.OmitValueType{}, strings.TrimPrefix(err.Error(), "json: "))
}

// strictProblem turns an error about an unknown or a repeated field into one with its whole path.
func strictProblem(err error, path *field.Path) *field.Error {
	var named kjson.FieldError
	if !errors.As(err, &named) {
		return field.Invalid(path, field.OmitValueType{}, err.Error())
	}
	what, _, _ := strings.Cut(err.Error(), ` "`)
	return field.Forbidden(below(path, named.FieldPath()), what)
}

func below(path *field.Path, name string) *field.Path {
	switch {
	case name == "":
		return path
	case path == nil:
		return field.NewPath(name)
	}
	return path.Child(name)
}

// kindName is the name of a type in JSON.
func kindName(of reflect.Type) string {
	switch of.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "an object"
	case reflect.Pointer:
		return kindName(of.Elem())
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "an integer of at least 0"
	}
	return "an integer"
}
